"""Replies that begin with their verdict: written, read back, and weighed by their probability."""

import math

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    ErrorSpan,
    Finish,
    Outcome,
    Reply,
    Report,
    RescoringMethod,
    Scale,
    TokenLogprob,
)
from spanjury.judges.llm.distilled import Distilled
from spanjury.judges.llm.distilled_form import (
    MAX_ERRORS,
    error_probability,
    layout_of,
    light_characters,
    list_prefix,
    messages_for,
    read_verdict,
    says_faulty,
    short_fingerprint,
    verdict_target,
    written_number,
)
from spanjury.testing import ScriptedModel

FAULTY = """Faulty: yes

Error 1:
Location: "in 1935"
Severity: 4

Overall score: 35

Explanation 1: The article says 1932."""
SOUND = "Faulty: no\n\nOverall score: 100"
WORDS = st.lists(
    st.sampled_from(["the", "bridge", "isn’t", "42", "(sic)", "“x”", "a:b", "Explanation 1:"]),
    min_size=1,
    max_size=8,
).map(" ".join)
SPANS = st.lists(
    st.builds(ErrorSpan, text=WORDS, explanation=WORDS, severity=st.integers(1, 5)),
    max_size=MAX_ERRORS,
).map(tuple)


def said(text: str, *, yes: float | None = None) -> Reply:
    """Return a reply whose verdict had the probability `yes` to be ``yes``."""
    if yes is None:
        return Reply(text=text)
    top = {" yes": math.log(yes), " no": math.log(1 - yes)}
    word = " yes" if text.startswith("Faulty: yes") else " no"
    tokens = (
        TokenLogprob(token="Faulty", logprob=0.0),
        TokenLogprob(token=":", logprob=0.0),
        TokenLogprob(token=word, logprob=top[word], top=top),
        TokenLogprob(token=text.removeprefix(f"Faulty:{word}"), logprob=0.0),
    )
    return Reply(text=text, logprobs=tokens)


async def assess(*replies: Reply, **options: object) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel(*replies)
    judge = Distilled(model=model, layout="verdict-first", **options)  # type: ignore[arg-type]  # set by each test
    return await judge.assess(segment(), ASPECT), model


@given(SPANS, st.integers(0, 20))
def test_spans_and_score_are_read_back_from_the_target(
    spans: tuple[ErrorSpan, ...], step: int
) -> None:
    target = verdict_target(Report(score=1 + step / 5, spans=spans), Scale())
    parsed = read_verdict(target)
    assert (parsed.problem, parsed.score) == ("", 5 * step)
    assert parsed.error_free == (not spans)
    assert [(e.quote, e.explanation, e.severity) for e in parsed.errors] == [
        (span.text, span.explanation, span.severity) for span in spans
    ]
    assert (says_faulty(target), layout_of(target)) == (bool(spans), "verdict-first")
    assert written_number(target) == str(5 * step)


@given(st.lists(st.builds(ErrorSpan, text=st.text(), explanation=st.text(), severity=st.just(2))))
def test_no_report_makes_a_target_that_cannot_be_read(spans: list[ErrorSpan]) -> None:
    parsed = read_verdict(verdict_target(Report(score=2, spans=tuple(spans)), Scale()))
    assert parsed.score == 25
    assert len(parsed.errors) == min(len(spans), MAX_ERRORS)


def test_text_behind_a_score_does_not_revoke_it() -> None:
    parsed = read_verdict(f'{FAULTY}\n\nError 2:\nLocation: "x"\n\nOverall score: 90')
    assert (parsed.score, parsed.problem) == (35, "")
    assert [error.quote for error in parsed.errors] == ["in 1935"]


def test_the_last_part_of_a_target_are_its_explanations() -> None:
    report = Report(score=2.4, spans=(mark(segment().output, "in 1935", "It was 1932.", 4),))
    target = verdict_target(report, Scale())
    assert target[-light_characters(target) :] == "Explanation 1: It was 1932."
    assert light_characters(SOUND) == 0
    assert light_characters("No Error\n\nOverall score: 5\n\nExplanation 1: x") == 0


def test_a_target_of_the_older_layout_is_recognised() -> None:
    assert layout_of("No Error\n\nOverall score: 100") == "score-last"
    assert says_faulty("No Error\n\nOverall score: 100") is None


def test_the_prompt_asks_for_the_verdict_first_and_the_old_one_is_as_it_was() -> None:
    (new,) = messages_for(segment(), ASPECT, layout="verdict-first")
    (old,) = messages_for(segment(), ASPECT)
    assert "Faulty: <yes or no>" in new.content
    assert "Faulty" not in old.content
    assert old.content.endswith("Overall score: <0 to 100>")
    assert short_fingerprint() != short_fingerprint("verdict-first")


@pytest.mark.parametrize(
    ("top", "due"),
    [
        ({" yes": 0.3, " no": 0.6}, 1 / 3),
        ({"yes": 0.2, "no": 0.2, "Yes": 0.2}, 2 / 3),
        ({"\u0120y": 0.5, "\u0120no": 0.5}, 0.5),
        ({" maybe": 0.9, " no": 0.1}, None),
    ],
)
def test_the_probability_of_an_error_is_that_of_yes_beside_no(
    top: dict[str, float], due: float | None
) -> None:
    tokens = (
        TokenLogprob(token="Faulty:", logprob=0.0),
        TokenLogprob(token=" no", logprob=-9.0, top={w: math.log(p) for w, p in top.items()}),
    )
    found = error_probability(tokens)
    assert found == (due if due is None else pytest.approx(due, abs=1e-3))


def test_without_the_verdict_or_its_probabilities_there_is_none() -> None:
    assert error_probability(()) is None
    assert error_probability([TokenLogprob(token="Error 1:", logprob=0.0)]) is None


async def test_a_verdict_over_the_threshold_is_taken_as_it_is_written() -> None:
    report, model = await assess(said(FAULTY, yes=0.7), threshold=0.4)
    assert report.score == 2.4
    assert report.error_probability == pytest.approx(0.7)
    (span,) = report.spans
    assert (span.text, span.severity, span.explanation) == ("in 1935", 4, "The article says 1932.")
    assert len(model.requests) == 1
    assert model.requests[0].decoding.logprobs == 20


async def test_a_likely_error_that_was_not_written_is_written_on_demand() -> None:
    rest = FAULTY.partition("Error 1:")[2]
    report, model = await assess(said(SOUND, yes=0.3), Reply(text=rest), threshold=0.25)
    assert [span.text for span in report.spans] == ["in 1935"]
    assert report.score == 2.4
    assert report.error_probability == pytest.approx(0.3)
    assert [one.prefix for one in model.requests] == ["", "Faulty: yes\n\nError 1:"]
    assert report.reply == FAULTY


async def test_an_unlikely_error_that_was_written_is_none() -> None:
    report, model = await assess(said(FAULTY, yes=0.6), Reply(text=" 95"), threshold=0.8)
    assert (report.score, report.spans) == (4.8, ())
    assert report.error_probability == pytest.approx(0.6)
    assert model.requests[1].prefix == list_prefix(()) == "Faulty: no\n\nOverall score:"


async def test_without_probabilities_the_written_verdict_counts() -> None:
    report, model = await assess(said(FAULTY), threshold=0.99)
    assert (report.score, report.error_probability) == (2.4, None)
    assert len(model.requests) == 1


async def test_explanations_may_break_off_and_a_score_may_not() -> None:
    cut = Reply(text=FAULTY[:-8], finish=Finish.LENGTH)
    report, _ = await assess(cut, tries=1)
    assert report.score == 2.4
    bare = Reply(text=FAULTY.partition("\n\nExplanation")[0], finish=Finish.LENGTH)
    report, _ = await assess(bare, tries=1)
    assert report.outcome is Outcome.TRUNCATED
    assert report.error_probability is None


async def test_a_reply_in_the_older_layout_is_unreadable() -> None:
    report, _ = await assess(Reply(text="No Error\n\nOverall score: 100"), tries=1)
    assert report.outcome is Outcome.UNPARSEABLE
    assert "Faulty: yes" in report.reason


async def test_a_score_follows_from_a_list_that_is_not_its_own() -> None:
    model = ScriptedModel(" 40\n\nExplanation 1: more")
    judge = Distilled(model=model, layout="verdict-first")
    spans = [mark(segment().output, "1935")]
    rescoring = await judge.rescore(segment(), ASPECT, spans)
    assert (rescoring.method, rescoring.report.score) == (RescoringMethod.CONTINUED, 2.6)
    assert model.requests[0].prefix.startswith("Faulty: yes\n\nError 1:")
    assert model.requests[0].prefix.endswith("Severity: 3\n\nOverall score:")


def test_layout_and_threshold_are_in_the_signature_and_not_in_that_of_older_models() -> None:
    model = ScriptedModel()
    old = Distilled(model=model).signature
    new = Distilled(model=model, layout="verdict-first").signature
    other = Distilled(model=model, layout="verdict-first", threshold=0.3).signature
    assert len({old, new, other}) == 3
    assert "layout" not in old


@pytest.mark.parametrize(
    "options",
    [{"layout": "other"}, {"threshold": 0.5}, {"layout": "verdict-first", "threshold": 2}],
)
def test_a_bad_option_is_refused_at_once(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Distilled(model=ScriptedModel(), **options)  # type: ignore[arg-type]  # that is the point
