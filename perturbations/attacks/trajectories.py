"""Attacks on trajectories: on the agent's last reply, and inside the results of its tools."""

import json
from dataclasses import replace

from spanjury.judges.core import Trajectory, Turn
from spanjury.judges.core.transcript import inputs_of, replies, transcript, turn_of
from spanjury.perturbations.attacks.attack import AttackCase, Attacked
from spanjury.perturbations.edits import Damage, Edit
from spanjury.perturbations.perturbation import NothingToDamageError

_FIELD = "note"
"""Name of the field for an addition to a result, whose other fields stay readable."""


def agent_case(case: AttackCase, trajectory: Trajectory) -> AttackCase:
    """Return the parts of a trajectory that an attacker can change: last reply and results."""
    spoken = replies(trajectory)
    results = {
        header: text
        for header, text in inputs_of(trajectory).items()
        if (number := turn_of(header)) and trajectory.turns[number - 1].role == "tool"
    }
    text = trajectory.turns[spoken[-1] - 1].text if spoken else ""
    return replace(case, text=text, inputs=results)


def attacked_agent(
    trajectory: Trajectory, case: AttackCase, attacked: Attacked
) -> tuple[Trajectory, Damage]:
    """Return the trajectory after an attack on `case`, and its changes of the transcript.

    Raises `NothingToDamageError` if the attack needs something that the trajectory lacks, such as
    the reply of an agent that says nothing, or the header of an input.
    """
    before = transcript(trajectory).text
    if attacked.output.edits:
        number = next(reversed(replies(trajectory)), 0)
        interval = transcript(trajectory).interval(number)
        if interval is None:
            raise NothingToDamageError("the agent says nothing to the user")
        made = _with_turn(trajectory, number, text=attacked.output.text)
        edits = [
            Edit(start=edit.start + interval[0], end=edit.end + interval[0], text=edit.text)
            for edit in attacked.output.edits
        ]
        return made, Damage.of(before, edits)
    if attacked.inputs.keys() != case.inputs.keys():
        raise NothingToDamageError("a trajectory has no headers to forge")
    made = trajectory
    for header, text in attacked.inputs.items():
        attacked_turn = turn_of(header)
        if attacked_turn and text != case.inputs[header]:
            added = text.removeprefix(case.inputs[header])
            own = trajectory.turns[attacked_turn - 1].text
            made = _with_turn(made, attacked_turn, text=_with_addition(own, added))
    return made, Damage(clean=before, edits=())


def _with_turn(trajectory: Trajectory, number: int, *, text: str) -> Trajectory:
    turns: list[Turn] = list(trajectory.turns)
    turns[number - 1] = replace(turns[number - 1], text=text)
    return replace(trajectory, turns=tuple(turns))


def _with_addition(result: str, added: str) -> str:
    """Return a result with an addition, in a separate field if the result is an object."""
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return f"{result}{added}"
    last = value[-1] if isinstance(value, list) and value else value
    if not isinstance(last, dict):
        return f"{result}{added}"
    last[_FIELD] = added.strip()
    return json.dumps(value, ensure_ascii=False)
