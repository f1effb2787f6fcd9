"""An attack: text that is added to an output, inputs or a trajectory to win a better score."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import wraps
from string import Template
from types import MappingProxyType
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import PerturbationError, Trajectory, failing_as
from spanjury.judges.core.transcript import inputs_of, replies, transcript, turn_of
from spanjury.perturbations.edits import Damage, Edit
from spanjury.perturbations.perturbation import Case, NothingToDamageError, Perturbation, with_turn

Target = Literal["output", "inputs"]
_FIELD = "note"
"""Name of the field for an addition to a result, whose other fields stay readable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackCase:
    """A text that is attacked, and the attacker's knowledge of the judge's form.

    `header` is the name of the output, such as ``"Summary"``; `best` and `highest` are the label
    and the number of the best score.
    """

    text: str
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    header: str = "Output"
    best: str = "Excellent"
    highest: int = 5

    def filled(self, wording: str) -> str:
        """Insert header, label and number of the best score into a wording of the lexicon."""
        return Template(wording).substitute(
            header=self.header, best=self.best, highest=self.highest
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """A case after an attack, in which either the output or the inputs have changed.

    `output` has no edits if the inputs are attacked; `length` is that of the addition in
    characters.
    """

    output: Damage
    inputs: Mapping[str, str]
    length: int

    @property
    def target(self) -> Target:
        """The part of the case that contains the addition."""
        return "output" if self.output.edits else "inputs"


@dataclass(frozen=True, slots=True)
class Attack:
    """A rule that attacks; a plugin of the group ``spanjury.attacks``.

    ``rule(case, rng)`` returns the attacked case, the same for the same arguments. Its addition
    neither improves the text nor says anything new about its subject. The family is the kind of
    attack, such as ``"quoted-score"``; success is also counted by family.
    """

    rule: Callable[[AttackCase, Generator], Attacked]
    _: KW_ONLY
    family: str

    def on(self, case: AttackCase, rng: Generator) -> Attacked:
        """Attack `case`.

        Raises `NothingToDamageError` if there is nothing to attack, or nothing changes. Raises
        `PerturbationError` if the rule fails.
        """
        with failing_as(
            lambda error: PerturbationError(f"the attack failed: {error!r}"),
            passing=(PerturbationError,),
        ):
            attacked = self.rule(case, rng)
        if not isinstance(attacked, Attacked):
            raise PerturbationError(f"the attack returned {attacked!r}, expected an Attacked")
        if attacked.output.text == case.text and attacked.inputs == case.inputs:
            raise NothingToDamageError("the attack changes nothing")
        return attacked


def output_attack(
    *, family: str
) -> Callable[[Callable[[AttackCase, Generator], Iterable[Edit]]], Attack]:
    """Make an attack of a rule that returns edits of the output."""

    def made(rule: Callable[[AttackCase, Generator], Iterable[Edit]]) -> Attack:
        @wraps(rule)  # checks read its parameters
        def on_output(case: AttackCase, rng: Generator) -> Attacked:
            return _with_edits(case, rule(case, rng))

        return Attack(on_output, family=family)

    return made


def ended_output(case: AttackCase, added: str) -> Attacked:
    """Return `case` with `added` at the end of the output."""
    end = len(case.text)
    return _with_edits(case, [Edit(start=end, end=end, text=added)])


def ended_input(case: AttackCase, added: str) -> Attacked:
    """Return `case` with `added` at the end of its longest input, usually the source.

    Raises `NothingToDamageError` if there is no input.
    """
    header = max(case.inputs, key=lambda name: len(case.inputs[name]), default=None)
    if header is None:
        raise NothingToDamageError("there is no input to attack")
    return with_inputs(case, {**case.inputs, header: f"{case.inputs[header]}{added}"})


def with_inputs(case: AttackCase, inputs: Mapping[str, str]) -> Attacked:
    """Return `case` with other inputs and the same output."""
    length = _length(inputs) - _length(case.inputs)
    return Attacked(output=Damage(clean=case.text, edits=()), inputs=inputs, length=length)


def perturbing_attack(perturbation: Perturbation, *, family: str) -> Attack:
    """Make an attack of a perturbation that does not change the content of a text."""

    def perturbed(case: AttackCase, rng: Generator) -> Iterable[Edit]:
        return perturbation.damage(Case(text=case.text, inputs=case.inputs), rng).edits

    perturbed.__doc__ = perturbation.rule.__doc__
    return output_attack(family=family)(perturbed)


def _with_edits(case: AttackCase, edits: Iterable[Edit]) -> Attacked:
    output = Damage.of(case.text, edits)
    length = len(output.text) - len(case.text)
    return Attacked(output=output, inputs=case.inputs, length=length)


def _length(inputs: Mapping[str, str]) -> int:
    return sum(len(header) + len(text) for header, text in inputs.items())


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
        reply = replace(trajectory.turns[number - 1], text=attacked.output.text)
        attacked_trajectory = with_turn(trajectory, number, reply)
        edits = [
            Edit(start=edit.start + interval[0], end=edit.end + interval[0], text=edit.text)
            for edit in attacked.output.edits
        ]
        return attacked_trajectory, Damage.of(before, edits)
    if attacked.inputs.keys() != case.inputs.keys():
        raise NothingToDamageError("a trajectory has no headers to forge")
    attacked_trajectory = trajectory
    for header, text in attacked.inputs.items():
        attacked_turn = turn_of(header)
        if attacked_turn and text != case.inputs[header]:
            added = text.removeprefix(case.inputs[header])
            own = trajectory.turns[attacked_turn - 1]
            longer = replace(own, text=_with_addition(own.text, added))
            attacked_trajectory = with_turn(attacked_trajectory, attacked_turn, longer)
    return attacked_trajectory, Damage(clean=before, edits=())


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
