from dataclasses import replace

import pytest
from fakes.forced_model import COPIED, STRANGE, CopyingModel
from fakes.judges import ASPECT, segment

from spanjury.judges.core import Outcome, PermanentModelError, Report, Segment
from spanjury.judges.llm.likelihood import Likelihood
from spanjury.testing import ScriptedModel

ARTICLE = "Ann Lee opened a bakery in Leeds and sells rye bread there."


def rated(output: str, *, article: str = ARTICLE) -> Segment:
    return replace(segment(), inputs={"Article": article}, output=output)


async def assess(
    output: str, *, article: str = ARTICLE, model: CopyingModel | None = None, **options: object
) -> Report:
    judge = Likelihood(model=model or CopyingModel(), **{"spans": True, **options})  # type: ignore[arg-type]  # set by each test
    return await judge.assess(rated(output, article=article), ASPECT)


async def test_the_model_reads_the_text_once_without_and_once_beside_the_source() -> None:
    model = CopyingModel()
    report = await assess("Ann sells bread", model=model)
    without, beside = (request.messages[0].content for request in model.requests)
    assert ARTICLE in beside
    assert ARTICLE not in without
    assert {request.forced for request in model.requests} == {"Ann sells bread"}
    assert report.usage.calls == 2


async def test_the_score_follows_the_likelihood_alone_without_spans_with_a_note() -> None:
    report = await assess("Ann Lee sells cheap cars", spans=False)
    # Of a mean of -2.55, as below, without any regard to the top band.
    assert report.score == pytest.approx(1 + 4 * 1.45 / 3.5)
    assert report.spans == ()
    assert "no error spans were looked for" in report.rationale
    marked = await assess("Ann Lee sells cheap cars")
    assert "no error spans" not in marked.rationale


async def test_a_copy_has_no_span_and_the_highest_score() -> None:
    report = await assess("Ann Lee sells rye bread")
    # Each token has -.25, which is above -.5, the best.
    assert (report.score, report.spans) == (5.0, ())
    assert report.error_probability is None


async def test_a_word_that_the_source_does_not_help_is_a_span_and_lowers_the_score() -> None:
    report = await assess("Ann Lee sells cheap cars")
    (span,) = report.spans
    assert (span.text, span.start, span.end, span.severity) == ("cheap cars", 14, 24, 1)
    # The mean is (3 * -.25 + 2 * -6) / 5 = -2.55: of -4 to -.5 that is 1.45 / 3.5.
    assert report.score == pytest.approx(1 + 4 * 0.875 * 0.999 * 1.45 / 3.5)


async def test_a_name_weighs_more_than_a_word_and_a_function_word_nothing() -> None:
    report = await assess("Ann Lee sells bread with Bob")
    assert [(span.text, span.severity) for span in report.spans] == [("Bob", 2)]


async def test_function_words_join_a_span_and_words_that_are_helped_part_it() -> None:
    report = await assess("cars for boats sells trucks")
    assert [span.text for span in report.spans] == ["cars for boats", "trucks"]


async def test_words_as_likely_without_the_source_are_spans_only_if_rare() -> None:
    assert COPIED > -3.0 > STRANGE
    report = await assess("Write bread", article="bread is sold here")
    # "Write" stands in both prompts: likely in either, gained nothing.
    assert report.spans == ()


async def test_no_span_is_in_the_top_band_and_any_span_below_it() -> None:
    clean = await assess("It is there and it is in it")
    faulty = await assess("Ann Lee opened a bakery in Leeds and sells rye bread there Zoe")
    assert clean.spans == ()
    assert clean.score is not None
    assert clean.score >= 4.5
    assert faulty.spans
    assert faulty.score is not None
    assert faulty.score < 4.5


async def test_the_spans_whose_words_gain_least_are_kept_in_order_of_place() -> None:
    report = await assess("cars sells boats and trucks sells planes", max_spans=1)
    assert [span.text for span in report.spans] == ["cars"]


async def test_a_long_source_loses_its_end_and_the_rationale_says_so() -> None:
    model = CopyingModel()
    report = await assess("Ann sells", article=f"{ARTICLE} {'x ' * 2000}", max_characters=1000)
    assert "of the source was read" in report.rationale
    report = await assess("Ann sells", model=model, article=f"{ARTICLE} {'x ' * 2000}")
    assert "of the source was read" not in report.rationale


async def test_a_model_with_less_context_is_shown_less() -> None:
    model = CopyingModel(context=1500)
    report = await assess("Ann sells", model=model, article=f"{ARTICLE} {'x ' * 2000}")
    assert report.outcome is Outcome.SCORED
    assert "Only 25% of the source" in report.rationale or "Only 24%" in report.rationale
    assert len(model.requests) == 4  # without the source, whole, half, a quarter


async def test_the_judge_abstains_with_the_models_reason_if_no_source_fits() -> None:
    report = await assess("Ann sells", model=CopyingModel(context=30))
    assert report.outcome is Outcome.ABSTAINED
    assert "characters" in report.reason


async def test_a_text_that_leaves_no_room_for_a_source_is_not_judged() -> None:
    report = await assess("a " * 401, max_characters=800)
    assert report.outcome is Outcome.ABSTAINED
    assert "max_characters" in report.reason


async def test_a_model_that_writes_what_it_likes_fails_with_a_plain_message() -> None:
    judge = Likelihood(model=ScriptedModel("I think it is fine."))
    with pytest.raises(PermanentModelError, match="how likely a given text is"):
        await judge.assess(rated("Ann sells"), ASPECT)


async def test_it_abstains_without_a_source_and_on_matters_of_form() -> None:
    judge = Likelihood(model=CopyingModel())
    assert (await judge.assess(rated("Ann", article=" "), ASPECT)).outcome is Outcome.ABSTAINED
    form = replace(ASPECT, kind="form")
    assert (await judge.assess(rated("Ann"), form)).outcome is Outcome.ABSTAINED


async def test_a_blank_text_says_nothing_that_is_unsupported() -> None:
    model = CopyingModel()
    assert (await assess("  ", model=model)).score == 5.0
    assert model.requests == []


@pytest.mark.parametrize("options", [{"surprise": -1}, {"max_spans": 0}, {"max_characters": 5}])
def test_numbers_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Likelihood(model=CopyingModel(), **options)  # type: ignore[arg-type]  # set by each test
