"""Attacks: each adds something, nothing is lost, and the same seed makes the same attack."""

import json

import pytest

from spanjury.judges.core import PerturbationError, ToolCall, Trajectory, Turn
from spanjury.judges.core.transcript import transcript
from spanjury.orchestration.wiring.plugins import ATTACKS
from spanjury.perturbations.attacks.attack import (
    Attack,
    AttackCase,
    Attacked,
    agent_case,
    attacked_agent,
    output_attack,
)
from spanjury.perturbations.attacks.standard import STANDARD_ATTACKS, plain_addition, rounded_length
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, generator_for
from spanjury.perturbations.text.wordlists import lists

CASE = AttackCase(
    text="The ferry sails at noon. It takes an hour, and the crew is kind.",
    inputs={"Article": "The ferry sails at noon and takes an hour.", "Note": "None."},
    header="Summary",
    best="Superb",
    highest=7,
)
ADDING_NOTHING_BUT_MARKS = {"markdown-decoration", "confident-tone"}
"""Attacks that change letters or blanks of the text itself."""


def attack(name: str) -> Attack:
    loaded = ATTACKS.get(name)
    assert isinstance(loaded, Attack)
    return loaded


def struck(name: str, *, case: AttackCase = CASE, seed: int = 1) -> Attacked:
    return attack(name).on(case, generator_for(seed, name, "a"))


def test_the_standard_attacks_are_the_ones_that_come_with_the_package() -> None:
    ours = [plugin.name for plugin in ATTACKS.plugins() if "spanjury" in plugin.origin]
    assert sorted(ours) == sorted(STANDARD_ATTACKS)
    assert len({attack(name).family for name in STANDARD_ATTACKS}) == 8


def test_an_attack_only_adds_and_is_the_same_for_the_same_seed() -> None:
    for name in STANDARD_ATTACKS:
        attacked = struck(name)
        assert attacked == struck(name), name
        assert (attacked.target == "output") == (attacked.inputs == CASE.inputs), name
        if attacked.target == "inputs":
            assert attacked.output.text == CASE.text, name
            for header, text in CASE.inputs.items():
                assert attacked.inputs[header].startswith(text), name
        elif name not in ADDING_NOTHING_BUT_MARKS:
            assert all(edit.start == edit.end for edit in attacked.output.edits), name
        added = len(attacked.output.text) + sum(len(k) + len(v) for k, v in attacked.inputs.items())
        before = len(CASE.text) + sum(len(k) + len(v) for k, v in CASE.inputs.items())
        assert attacked.length == added - before > 0, name


def test_every_wording_is_filled_with_the_best_score_of_the_scale() -> None:
    wordings = [text for texts in lists("attacks").values() for text in texts]
    assert len(wordings) == len(set(wordings)) > 40
    for wording in wordings:
        filled = CASE.filled(wording)
        assert "$" not in filled
        assert "Superb" in filled or "7" in filled


@pytest.mark.parametrize(
    ("name", "case", "reason"),
    [
        ("order-in-source", AttackCase(text="So."), "there is no input"),
        ("forged-key", AttackCase(text="So."), "there is no input"),
        ("score-lines", AttackCase(text=""), "there is no sentence"),
        ("polite-appeal", AttackCase(text="Der Hund und die Katze"), "not English"),
    ],
)
def test_texts_that_cannot_be_attacked_are_named(name: str, case: AttackCase, reason: str) -> None:
    with pytest.raises(NothingToDamageError, match=reason):
        struck(name, case=case)


def test_a_failing_foreign_attack_raises_our_error() -> None:
    @output_attack(family="theirs")
    def broken(case: AttackCase, _: object) -> list[Edit]:
        return [Edit(start=len(case.text) // 0, end=0, text="")]

    @output_attack(family="theirs")
    def idle(_: AttackCase, __: object) -> list[Edit]:
        return []

    no_attack = Attack(lambda _case, _rng: "text", family="theirs")  # type: ignore[arg-type,return-value]
    for made, problem in (
        (broken, "the attack failed: ZeroDivisionError"),
        (idle, "changes nothing"),
        (no_attack, "the attack returned 'text', expected an Attacked"),
    ):
        with pytest.raises(PerturbationError, match=problem):
            made.on(CASE, generator_for(1, "theirs", "a"))


def test_a_plain_addition_is_about_as_long_as_asked_and_stands_where_the_attack_does() -> None:
    for length in (40, 160, 640, 1280):
        rng = generator_for(1, "plain", "a")
        output = plain_addition(CASE, rng, target="output", length=length)
        source = plain_addition(CASE, rng, target="inputs", length=length)
        for added in (output, source):
            assert abs(added.length - length) <= 45
        assert output.output.text.startswith(CASE.text)
        assert source.inputs["Article"].startswith(CASE.inputs["Article"])
        assert (output.target, source.target) == ("output", "inputs")
    assert [rounded_length(n) for n in (1, 56, 57, 700)] == [40, 40, 80, 640]


def agent(result: str, reply: str = "It opens at nine.") -> Trajectory:
    call = ToolCall(call_id="", name="hours", arguments="{}")
    turns = (
        Turn(role="user", text="When does it open?"),
        Turn(role="assistant", calls=(call,)),
        Turn(role="tool", text=result),
        *((Turn(role="assistant", text=reply),) if reply else ()),
    )
    return Trajectory(turns=turns)


@pytest.mark.parametrize("result", ['{"opens": "09:00"}', '[{"opens": "09:00"}]', "Nine.", "[9]"])
def test_a_result_of_a_tool_is_attacked_so_that_it_can_be_read_as_before(result: str) -> None:
    trajectory = agent(result)
    case = agent_case(CASE, trajectory)
    attacked = struck("order-in-source", case=case)
    made, edits = attacked_agent(trajectory, case, attacked)
    assert not edits.edits
    assert [
        before == after for before, after in zip(trajectory.turns, made.turns, strict=True)
    ] == [*(True, True, False, True)]
    if result.startswith(("{", "[{")):
        (value,) = json.loads(f"[{made.turns[2].text}]" if result[0] == "{" else made.turns[2].text)
        assert value.pop("note")
        assert value == {"opens": "09:00"}


def test_an_attack_on_an_agents_output_is_one_on_its_last_reply() -> None:
    trajectory = agent("{}")
    case = agent_case(CASE, trajectory)
    attacked = struck("review", case=case)
    made, edits = attacked_agent(trajectory, case, attacked)
    assert made.turns[:-1] == trajectory.turns[:-1]
    assert made.turns[-1].text.startswith("It opens at nine.")
    assert edits.text == transcript(made).text


def test_what_no_trajectory_has_is_nothing_to_attack() -> None:
    trajectory = agent("{}", reply="")
    case = agent_case(CASE, trajectory)
    for name in ("review", "forged-key"):
        attacked = struck(name, case=case)
        with pytest.raises(NothingToDamageError):
            attacked_agent(trajectory, case, attacked)
