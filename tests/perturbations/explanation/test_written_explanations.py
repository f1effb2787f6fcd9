"""Explanations that a model writes: what it is asked, what is believed, what is sent back."""

from collections.abc import Sequence

import pytest
from fakes.judges import located

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Finish,
    PerturbationError,
    Reply,
    Task,
    TransientModelError,
)
from spanjury.perturbations.explanation.errors import add_errors, critical_error, remove_errors
from spanjury.perturbations.explanation.generated import (
    GeneratedAddition,
    GeneratedRewording,
    generated_twin,
)
from spanjury.perturbations.explanation.levels import (
    openings,
    soften_both,
    soften_explanation,
    soften_severity,
    worsen_both,
    worsen_explanation,
)
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for
from spanjury.testing import ScriptedModel

OUTPUT = "Anna Berg opened a school in Oslo. It has 40 pupils."
REASON = "The source says that the school is in Bergen."
GRAVER = "This is simply false: the school is in Bergen, and the summary deceives its readers."
CONSISTENCY = Aspect(
    name="consistency",
    task=Task(name="summarization", description="Sum up."),
    definition="Whether the source bears out what is said.",
    kind="grounding",
)
OSLO = located("Oslo", 29, explanation=REASON)
REWORDINGS = {
    name: GeneratedRewording(twin=rule)
    for name, rule in {
        "soften-both": soften_both,
        "soften-explanation": soften_explanation,
        "worsen-both": worsen_both,
        "worsen-explanation": worsen_explanation,
    }.items()
}
OMITTED = ErrorSpan(text="", explanation="The year is missing.", severity=5)


async def reworded(
    *replies: Reply | str | Exception,
    spans: Sequence[ErrorSpan] = (OSLO,),
    kind: str = "worsen-explanation",
    by: int = 1,
) -> tuple[tuple[ErrorSpan, ...], ScriptedModel]:
    model = ScriptedModel(*replies)
    errors = ErrorList(output=OUTPUT, spans=tuple(spans))
    rng = generator_for(1, kind, "id")
    result = await REWORDINGS[kind].changed(errors, model, rng=rng, by=by, seed=7)
    return result, model


async def added(*replies: str, k: int = 1) -> tuple[tuple[ErrorSpan, ...], ScriptedModel]:
    model = ScriptedModel(*replies)
    errors = ErrorList(output=OUTPUT, spans=(OSLO,))
    rng = generator_for(1, "add-errors", "id")
    written = GeneratedAddition(aspect=CONSISTENCY)
    return await written.changed(errors, model, rng=rng, k=k, seed=7), model


async def test_an_explanation_becomes_what_the_model_writes() -> None:
    (result,), model = await reworded(GRAVER)
    assert (result.explanation, result.severity, result.interval) == (GRAVER, 3, (29, 33))
    assert len(model.requests) == 1


async def test_worsening_both_moves_the_severity_too() -> None:
    result, _ = await reworded(GRAVER, kind="worsen-both", by=2)
    assert [(span.explanation, span.severity) for span in result] == [(GRAVER, 5)]


async def test_the_model_sees_the_passage_the_note_and_both_levels() -> None:
    _, model = await reworded(GRAVER, by=2)
    (request,) = model.requests
    assert (request.decoding.temperature, request.decoding.seed) == (0, 7)
    asked = request.messages[-1].content
    assert REASON in asked
    assert "Passage: begin\nOslo" in asked
    assert "level 3. Write it again, harsher," in asked
    assert "level 5." in asked


async def test_each_error_that_has_room_to_move_is_asked_about_in_turn() -> None:
    milder = "Perhaps Bergen would be the better name for where the school is."
    result, model = await reworded(
        milder, "One could add the year.", spans=(OSLO, OMITTED), kind="soften-explanation"
    )
    assert [span.explanation for span in result] == [milder, "One could add the year."]
    assert "Passage" not in model.requests[1].messages[-1].content.replace("passage", "")
    result, model = await reworded(GRAVER, spans=(OMITTED, OSLO))
    assert (result[0], len(model.requests)) == (OMITTED, 1)


async def test_an_error_without_an_explanation_is_worded_by_rule() -> None:
    bare = ErrorSpan(text="", explanation=" ", severity=3)
    (result,), model = await reworded(spans=(bare,))
    assert result.explanation in openings(4)
    assert model.requests == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty"),
        (REASON, "the note is the same as before"),
        (f'Explanation: "{REASON}"', "the note is the same as before"),
        ("I'm sorry, but I can't help with that.", "that is a refusal"),
        ("I cannot rewrite the note about the school.", "that is a refusal"),
        (f"{GRAVER}\nSeverity: 4", "'Severity:' does not belong into a note"),
        (f"A severity 4 problem. {GRAVER}", "'severity 4' does not belong into a note"),
        (f"{GRAVER} Error 2: another one", "'Error 2:' does not belong into a note"),
        (f"{GRAVER} Overall score: Poor", "'Overall score:' does not belong into a note"),
        ("Bread with butter tastes best.", "that has nothing to do with the passage"),
        ("The school is in Bergen. " * 20, "that is much longer than the note was"),
        ("The school is in Bergen. " * 60, "that is too long"),
        (Reply(text=GRAVER, finish=Finish.LENGTH), "the reply is not complete (length)"),
    ],
)
async def test_a_reply_in_another_form_is_sent_back(reply: Reply | str, reason: str) -> None:
    (result,), model = await reworded(reply, GRAVER)
    assert result.explanation == GRAVER
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2].content == (reply if isinstance(reply, str) else reply.text)
    assert reason in second.messages[-1].content


async def test_a_model_that_fails_twice_is_an_error_with_the_reason() -> None:
    with pytest.raises(PerturbationError, match="asked twice, wrote no note: that is a refusal"):
        await reworded("Sorry, no.", "I'm afraid not.")


async def test_an_error_of_the_model_goes_through() -> None:
    with pytest.raises(TransientModelError, match="gone"):
        await reworded(TransientModelError("gone"))


@pytest.mark.parametrize(
    "reply",
    [
        f"  {GRAVER}\n",
        f"**Explanation:** {GRAVER}",
        f"Modified Explanation: {GRAVER}",
        f"Here is the note:\n\n“{GRAVER}”",
        f"```\n{GRAVER}\n```",
        GRAVER.replace(": ", ":\n"),
    ],
)
async def test_text_around_a_note_is_removed(reply: str) -> None:
    (result,), _ = await reworded(reply)
    assert result.explanation == GRAVER


async def test_a_note_in_a_script_without_blanks_keeps_to_its_passage() -> None:
    spans = (ErrorSpan(text="", explanation="年份错误。", severity=2),)
    (result,), _ = await reworded("年份完全错误，误导读者。", spans=spans)
    assert result.explanation == "年份完全错误，误导读者。"
    with pytest.raises(PerturbationError, match="nothing to do with the passage"):
        await reworded("猫很可爱。", "猫很可爱。", spans=spans)


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ((), Unchanged.NO_ERRORS),
        ((OMITTED,), Unchanged.NO_ROOM),
        ((ErrorSpan(text="", explanation="No.", severity=None),), Unchanged.NO_SEVERITIES),
    ],
)
async def test_no_model_is_asked_where_there_is_nothing_to_change(
    spans: tuple[ErrorSpan, ...], reason: Unchanged
) -> None:
    with pytest.raises(NothingToChangeError) as caught:
        await reworded(spans=spans)
    assert caught.value.reason is reason


async def test_false_errors_are_explained_by_the_model() -> None:
    first, second = "Nothing in the source says so.", "The source gives another number."
    result, model = await added(first, second, k=2)
    assert (result[0], [span.explanation for span in result[1:]]) == (OSLO, [first, second])
    asked = model.requests[0].messages[-1].content
    assert OUTPUT in asked
    assert f"Passage: begin\n{result[1].text}\n" in asked
    assert CONSISTENCY.definition in asked
    assert f"level {result[1].severity}." in asked


async def test_a_false_explanation_is_checked_too() -> None:
    with pytest.raises(PerturbationError, match="asked twice, wrote no note: the reply is empty"):
        await added("As an AI, I find no error.", "")


def test_a_rule_that_a_model_can_stand_in_for_has_a_twin() -> None:
    addition = GeneratedAddition(aspect=CONSISTENCY)
    assert generated_twin(add_errors, aspect=CONSISTENCY) == addition
    for written in REWORDINGS.values():
        assert generated_twin(written.twin, aspect=CONSISTENCY) == written
    for rule in (critical_error, remove_errors, soften_severity):
        assert generated_twin(rule, aspect=CONSISTENCY) is None


def test_the_signature_tells_what_is_asked_apart() -> None:
    result = {each.signature for each in REWORDINGS.values()}
    assert len(result | {GeneratedAddition(aspect=CONSISTENCY).signature}) == 5
