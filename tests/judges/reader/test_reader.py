"""The judge `reader`: what it marks, what it says of it, where it abstains."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from fakes.judges import ASPECT
from fakes.window_reader import FakeWindowReader, absent, contradicted

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    JudgeError,
    Likelihoods,
    Outcome,
    Report,
    Rescorable,
    RescoringMethod,
    Segment,
    Window,
    WindowReading,
)
from spanjury.judges.reader.fitting import LEAST, MOST_ALARMS, CheckedText, fitted
from spanjury.judges.reader.judge import ReaderJudge
from spanjury.judges.reader.tuning import Tuning

ARTICLE = (
    "The council said on Tuesday that the library will not close in May. "
    "It was built by Mary Evans in 1932 and holds 12,000 books."
)
SOURCE = {"Article": "The ferry sails at noon. It carries cars."}
ENOUGH = 5 * LEAST


def segment(output: str, source: str = ARTICLE) -> Segment:
    return Segment(segment_id="1", output=output, inputs={"Article": source})


async def judged(output: str, words: Mapping[str, Likelihoods], **options: int) -> Report:
    judge = ReaderJudge(encoder=FakeWindowReader(words=words), **options)  # type: ignore[arg-type]  # an option is a number
    return await judge.assess(segment(output), ASPECT)


async def one_span(output: str, words: Mapping[str, Likelihoods]) -> ErrorSpan:
    (span,) = (await judged(output, words)).spans
    return span


def test_it_is_a_judge_that_can_rescore_and_says_what_it_cannot_see() -> None:
    judge = ReaderJudge(encoder=FakeWindowReader())
    assert isinstance(judge, Judge)
    assert isinstance(judge, Rescorable)
    assert "arithmetic" in ReaderJudge.blind_spots


def test_the_signature_changes_with_options_and_constants() -> None:
    judge = ReaderJudge(encoder=FakeWindowReader())
    others = (replace(judge, max_spans=3), replace(judge, tuning=Tuning(threshold=0.4)))
    assert judge.signature.startswith("reader|max_spans:8|encoder:")
    assert len({judge.signature, *(other.signature for other in others)}) == 3


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        ReaderJudge(encoder=FakeWindowReader(), max_spans=-1)


async def test_a_dropped_negation_is_contradicted_by_the_sentence_that_has_it() -> None:
    output = "Officials said the library will close in May."
    span = await one_span(output, {"will": contradicted(0.9), "close": contradicted(0.95)})
    assert (span.text, span.start, span.end) == ("close", 32, 37)
    assert (span.category, span.severity, span.probability) == ("contradicted", 5, 0.95)
    (evidence,) = span.evidence
    assert (ARTICLE[evidence.start : evidence.end], evidence.input) == (evidence.text, "Article")
    assert "will not close in May" in evidence.text
    assert span.explanation == (
        "The source says: 'The council said on Tuesday that the library will not close in May'."
    )


async def test_unsupported_words_never_have_the_highest_severity() -> None:
    output = "The library, built by Mary Evans, cost John Major a fortune."
    span = await one_span(output, {"John": absent(0.99), "Major": absent(0.9)})
    assert (span.text, span.category, span.severity) == ("John Major", "not in the source", 3)
    assert span.explanation.startswith("Nothing in the source says 'John Major'; the nearest is: '")


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        (
            "The library, built by Mary Evans, cost John Major a fortune.",
            ["It was built by Mary Evans in 1932 and holds 12,000 books."],
        ),
        ("A tower, built by Mary Jones, cost John Major a fortune.", []),
    ],
)
async def test_an_unsupported_clause_shows_its_source(output: str, evidence: list[str]) -> None:
    span = await one_span(output, {"John": absent(0.99), "Major": absent(0.9)})
    assert (span.text, [item.text for item in span.evidence]) == ("John Major", evidence)
    assert all(ARTICLE[item.start : item.end] == item.text for item in span.evidence)


async def test_nothing_is_quoted_from_a_source_without_shared_words() -> None:
    span = await one_span("Penguins swim happily.", {"swim": absent(0.85)})
    assert (span.explanation, span.severity) == ("Nothing in the source says 'swim'.", 2)


async def test_a_source_without_shared_words_contradicts_nothing() -> None:
    span = await one_span("Penguins swim happily.", {"swim": contradicted(0.85)})
    assert (span.category, span.severity) == ("not in the source", 2)
    assert span.explanation == "Nothing in the source says 'swim'."
    assert not (await judged("Penguins swim happily.", {"swim": contradicted(0.6)})).spans


@pytest.mark.parametrize(
    ("output", "words", "severity"),
    [
        ("The library holds some 15,000 books.", {"15,000": contradicted(0.9)}, 5),
        ("The library holds some 15,000 books.", {"15,000": contradicted(0.6)}, 4),
        ("It was designed by Mary Evans in 1932.", {"designed": contradicted(0.9)}, 4),
        ("It was built by Ann Evans.", {"Ann": contradicted(0.9)}, 5),
        ("It was never built in 1932.", {"never": contradicted(0.9)}, 5),
        ("The library holds some 15,000 books.", {"15,000": absent(0.99)}, 3),
        ("The library holds lovely books.", {"lovely": absent(0.99)}, 2),
    ],
)
async def test_severity_follows_from_what_is_wrong(
    output: str, words: Mapping[str, Likelihoods], severity: int
) -> None:
    assert (await one_span(output, words)).severity == severity


async def test_the_larger_sum_decides_between_contradicted_and_absent() -> None:
    both = Likelihoods(supported=0.1, contradicted=0.5, absent=0.4)
    lean = Likelihoods(supported=0.1, contradicted=0.3, absent=0.6)
    span = await one_span("The library holds old lovely books.", {"old": both, "lovely": lean})
    assert (span.text, span.category) == ("old lovely", "not in the source")


async def test_a_word_is_marked_from_the_threshold_on() -> None:
    words = {"lovely": contradicted(0.5), "old": contradicted(0.49)}
    report = await judged("The library holds old books, lovely ones.", words)
    assert [span.text for span in report.spans] == ["lovely"]


async def test_merely_unsupported_words_are_reported_if_likely_errors() -> None:
    words = {"lovely": absent(0.8), "old": absent(0.79)}
    report = await judged("The library holds old books, lovely ones.", words)
    assert [span.text for span in report.spans] == ["lovely"]


async def test_a_passage_is_quoted_by_its_clause() -> None:
    long = " and ".join(f"item {number} was put on a shelf of its own" for number in range(2))
    source = f"In the evening {long}, the library will not close in May, and people went home."
    judge = ReaderJudge(encoder=FakeWindowReader(words={"close": contradicted(0.9)}))
    report = await judge.assess(segment("So the library may close in May.", source), ASPECT)
    (evidence,) = report.spans[0].evidence
    assert evidence.text == "the library will not close in May"
    assert source[evidence.start : evidence.end] == evidence.text
    assert report.spans[0].explanation == "The source says: '…the library will not close in May…'."


async def test_evidence_is_of_the_input_that_has_it() -> None:
    inputs = {"Notes": "Nothing of interest happened on Monday.", "Article": ARTICLE}
    asked = Segment(segment_id="1", output="So the library may close in May.", inputs=inputs)
    judge = ReaderJudge(encoder=FakeWindowReader(words={"close": contradicted(0.9)}))
    (span,) = (await judge.assess(asked, replace(ASPECT, inputs=None))).spans
    (evidence,) = span.evidence
    assert evidence.input == "Article"
    assert inputs["Article"][evidence.start : evidence.end] == evidence.text


async def test_copied_sentences_are_not_read_and_have_nearly_the_best_score() -> None:
    reader = FakeWindowReader(words={"built": contradicted(0.99)})
    copied = "it was  built by MARY EVANS in 1932 and holds 12000 books ."
    report = await ReaderJudge(encoder=reader).assess(segment(copied), ASPECT)
    assert report.score == pytest.approx(5, abs=0.01)
    assert (reader.read_windows, report.spans) == ([], ())
    assert report.error_probability == pytest.approx(0.001, abs=0.001)
    assert report.rationale == "It repeats the source in runs of words, so no sentence was read."


async def test_a_sentence_of_copied_stretches_is_not_read_whatever_marks_join_them() -> None:
    reader = FakeWindowReader(words={";": contradicted(0.99), "built": contradicted(0.99)})
    joined = "It was built by Mary Evans; and holds 12,000 books!"
    report = await ReaderJudge(encoder=reader).assess(segment(joined), ASPECT)
    assert report.error_probability == pytest.approx(0.001, abs=0.001)
    assert reader.read_windows == []
    assert report.rationale == "It repeats the source in runs of words, so no sentence was read."


@pytest.mark.parametrize("behind", ["only in May", "unless it rains", "but not on Mondays"])
async def test_a_copy_that_the_source_goes_on_to_restrict_is_read(behind: str) -> None:
    reader = FakeWindowReader(words={})
    source = f"The old library is open {behind}. It is closed on Mondays."
    await ReaderJudge(encoder=reader).assess(segment("The old library is open.", source), ASPECT)
    assert len(reader.read_windows) == 1


async def test_copied_stretches_are_read_where_the_source_denies_one() -> None:
    reader = FakeWindowReader(words={"close": contradicted(0.9)})
    joined = "It was built by Mary Evans and close in May."
    report = await ReaderJudge(encoder=reader).assess(segment(joined), ASPECT)
    assert [span.text for span in report.spans] == ["close"]


async def test_a_copy_of_what_the_source_denies_is_read() -> None:
    source = "It is not true that the library will close in May."
    reader = FakeWindowReader(words={"close": contradicted(0.9)})
    report = await ReaderJudge(encoder=reader).assess(
        segment("The library will close in May.", source), ASPECT
    )
    assert [span.text for span in report.spans] == ["close"]


async def test_the_rationale_counts_what_was_read_and_what_was_copied() -> None:
    output = "It was built by Mary Evans in 1932. It holds lovely books."
    report = await judged(output, {"lovely": absent(0.9)})
    assert report.rationale == (
        "1 place that the source does not support in 1 sentence that the judge read;"
        " 1 more copied from it."
    )
    report = await judged("It holds books. Mary built it.", {})
    assert report.rationale == "No error found in 2 sentences that the judge read."


async def test_the_score_falls_with_the_probability_with_spans_and_without() -> None:
    output = "The library holds lovely books."
    reports = [await judged(output, {"lovely": absent(likely)}) for likely in (0.1, 0.4, 0.9)]
    assert [len(report.spans) for report in reports] == [0, 0, 1]
    assert [report.error_probability for report in reports] == pytest.approx([0.1, 0.4, 0.9])
    assert [report.score for report in reports] == pytest.approx([4.6, 3.4, 1.4])


async def test_a_sentence_that_is_neither_marked_nor_vouched_for_is_unverified() -> None:
    output = "Mary Evans built it. The library holds lovely books."
    (sentence,) = (await judged(output, {"lovely": absent(0.45)})).unverified
    assert output[sentence.start : sentence.end] == sentence.text
    assert sentence.text == "The library holds lovely books."
    assert sentence.probability == pytest.approx(0.45)
    assert "lovely" in sentence.words
    assert not (await judged(output, {"lovely": absent(0.1)})).unverified
    assert not (await judged(output, {"lovely": absent(0.9)})).unverified  # it is marked


@pytest.mark.parametrize(
    ("source", "output", "words", "reason"),
    [
        (
            "The tunnel is 14 kilometres long and cost 20 million pounds.",
            "The tunnel, fully 14 miles long, lay open.",
            ("fully", "miles", "lay", "open"),
            "4 of its 7 content words do not occur in the source passages compared with it.",
        ),
        (
            "The old tunnel opened in 1950.",
            "The old tunnel in 1950s opened.",
            ("1950s",),
            "1 of its 4 content words does not occur in the source passages compared with it.",
        ),
        (
            "Two thirds of the residents voted.",
            "Most residents voted.",
            ("Most",),
            "A word that changes its meaning does not occur in the source passages.",
        ),
        (
            "The old tunnel opened.",
            "People came and people opened the old tunnel.",
            ("People", "came"),
            "2 of its 5 content words do not occur in the source passages compared with it.",
        ),
    ],
)
async def test_a_missing_word_is_named_once_though_others_share_its_stem(
    source: str, output: str, words: tuple[str, ...], reason: str
) -> None:
    doubtful = {word: absent(0.45) for word in output.replace(".", "").split()}
    judge = ReaderJudge(encoder=FakeWindowReader(words=doubtful))
    (sentence,) = (await judge.assess(segment(output, source), ASPECT)).unverified
    assert (sentence.words, sentence.reason) == (words, reason)


async def test_the_worst_sentence_makes_the_probability_by_its_own_and_its_words() -> None:
    @dataclass(frozen=True)
    class Split(FakeWindowReader):
        def _reading(self, window: Window) -> WindowReading:
            bad = "lovely" in window.words
            words = tuple(absent(0.8 if word == "lovely" else 0.1) for word in window.words)
            return WindowReading(words=words, sentence=absent(0.2 if bad else 0.1))

    judge = ReaderJudge(encoder=Split(), tuning=Tuning(slope=2.0, intercept=1.0))
    report = await judge.assess(segment("They hold lovely books. Mary built it."), ASPECT)
    # (log odds of .8 + log odds of .2) / 2 = 0; 1 / (1 + e^-1)
    assert report.error_probability == pytest.approx(0.731058, abs=1e-5)


async def test_the_gravest_spans_are_reported_and_all_count() -> None:
    output = "The library holds lovely books, some 15,000, and costs a fortune."
    words = {
        "lovely": absent(0.9),
        "15,000": contradicted(0.9),
        "costs": absent(0.6),
        "fortune": absent(0.8),
    }
    few, all_of_them = await judged(output, words, max_spans=2), await judged(output, words)
    assert ([span.text for span in few.spans], len(all_of_them.spans)) == (["lovely", "15,000"], 3)
    assert few.score == all_of_them.score


@pytest.mark.parametrize("max_spans", [0, 1, 8])
async def test_an_unchanged_list_keeps_its_score_however_few_are_reported(max_spans: int) -> None:
    words = {"lovely": absent(0.9), "15,000": contradicted(0.9)}
    judge = ReaderJudge(encoder=FakeWindowReader(words=words), max_spans=max_spans)
    asked = segment("The library holds lovely books, some 15,000.")
    report = await judge.assess(asked, ASPECT)
    rescoring = await judge.rescore(asked, ASPECT, report.spans)
    assert rescoring.report.score == report.score
    assert (rescoring.report.spans, rescoring.method) == (report.spans, RescoringMethod.COMPUTED)


async def test_the_score_follows_a_changed_list() -> None:
    words = {"lovely": absent(0.9), "15,000": contradicted(0.9)}
    judge = ReaderJudge(encoder=FakeWindowReader(words=words))
    asked = segment("The library holds lovely books, some 15,000.")
    spans = (await judge.assess(asked, ASPECT)).spans
    graver = [replace(spans[0], severity=5), spans[1]]
    lists: Sequence[Sequence[ErrorSpan]] = (graver, spans, spans[:1], ())
    scores = [(await judge.rescore(asked, ASPECT, listed)).report.score or 0.0 for listed in lists]
    assert (scores, len(set(scores))) == (sorted(scores), 4)


@pytest.mark.parametrize(
    ("output", "source", "aspect", "reason"),
    [
        ("Fine.", ARTICLE, replace(ASPECT, kind="form"), "is not about what the inputs support"),
        ("Fine.", "  ", ASPECT, "there is no input to compare with"),
        ("Мост открыли в мае.", ARTICLE, ASPECT, "the output is in Cyrillic script"),
        ("The bridge opened.", "橋は五月に開いた。", ASPECT, "the input is in Chinese or Japanese"),
        ("Die Brücke und der Turm sind nicht offen.", ARTICLE, ASPECT, "the output is German"),
        ("It opened.", "Le pont et les gens sont dans la ville.", ASPECT, "the input is French"),
    ],
)
async def test_it_abstains_from_texts_it_cannot_judge_and_reads_nothing(
    output: str, source: str, aspect: Aspect, reason: str
) -> None:
    reader = FakeWindowReader()
    judge = ReaderJudge(encoder=reader)
    report = await judge.assess(segment(output, source), aspect)
    rescoring = await judge.rescore(segment(output, source), aspect, ())
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert reason in report.reason
    assert (rescoring.report.reason, reader.calls) == (report.reason, [])


async def test_english_with_foreign_names_is_read() -> None:
    reader = FakeWindowReader()
    output = "Rio de Janeiro and the Costa del Sol are not in El Salvador."
    report = await ReaderJudge(encoder=reader).assess(segment(output), ASPECT)
    assert report.outcome is Outcome.SCORED
    assert len(reader.read_windows) == 1


async def test_an_output_without_words_says_nothing_wrong() -> None:
    report = await ReaderJudge(encoder=FakeWindowReader()).assess(segment("…"), ASPECT)
    assert (report.spans, round(report.score or 0, 2)) == ((), 5.0)


@pytest.mark.heavy
@pytest.mark.asyncio_only  # the time is that of the windows
async def test_a_long_text_is_read_in_bounded_batches_and_an_error_at_its_end_is_found() -> None:
    filler = "".join(f"Visitor {number} liked the green garden. " for number in range(7_000))
    output = f"{filler}Mary Evans built a castle."
    reader = FakeWindowReader(words={"castle": absent(0.9)})
    report = await ReaderJudge(encoder=reader).assess(segment(output), ASPECT)
    assert ([span.text for span in report.spans], len(reader.read_windows)) == (["castle"], 7_001)
    assert max(reader.calls) <= 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldReader(FakeWindowReader):
    """Waits within a batch until it is let go."""

    began: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def read(self, windows: Sequence[Window]) -> list[WindowReading]:
        self.began.set()
        self.go.wait(timeout=10)
        return FakeWindowReader.read(self, windows)


async def test_a_cancelled_assessment_reads_no_further_batch() -> None:
    reader = HeldReader()
    output = "".join(f"Visitor {number} liked the green garden. " for number in range(100))
    async with anyio.create_task_group() as judging:
        judging.start_soon(ReaderJudge(encoder=reader).assess, segment(output), ASPECT)
        await anyio.to_thread.run_sync(reader.began.wait)
        judging.cancel_scope.cancel()
    reader.go.set()
    assert len(reader.calls) <= 1


async def test_the_event_loop_goes_on_while_a_text_is_read() -> None:
    reader = HeldReader()
    async with anyio.create_task_group() as judging:
        judging.start_soon(ReaderJudge(encoder=reader).assess, segment("It cost a lot."), ASPECT)
        await anyio.to_thread.run_sync(reader.began.wait)
        await anyio.lowlevel.checkpoint()
        reader.go.set()
    assert reader.calls == [1]


async def test_a_reader_that_gives_other_readings_costs_the_report() -> None:
    class Short(FakeWindowReader):
        def _reading(self, window: Window) -> WindowReading:
            reading = FakeWindowReader._reading(self, window)
            return replace(reading, words=reading.words[1:])

    with pytest.raises(JudgeError, match="returned readings of other windows"):
        await ReaderJudge(encoder=Short()).assess(segment("It cost a lot."), ASPECT)


async def test_words_are_marked_only_in_sentences_that_are_likely_wrong() -> None:
    encoder = FakeWindowReader(words={"lovely": absent(0.9)})
    text = segment("It holds lovely books.")
    # Half the log odds of the sentence and half those of its worst word: the fake reader says of
    # a sentence what it says of its worst word.
    (span,) = (
        await ReaderJudge(encoder=encoder, tuning=Tuning(sentence_threshold=0.85)).assess(
            text, ASPECT
        )
    ).spans
    assert span.text == "lovely"
    strict = ReaderJudge(encoder=encoder, tuning=Tuning(sentence_threshold=0.95))
    assert (await strict.assess(text, ASPECT)).spans == ()


def test_a_threshold_of_sentences_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="sentence_threshold"):
        Tuning(sentence_threshold=1.5)


def text(word: str, *, faulty: bool) -> CheckedText:
    output = f"A ferry sails {word} daily."
    start = output.index(word)
    spans = [(start, start + len(word))] if faulty else []
    return CheckedText(inputs=SOURCE, output=output, faulty=faulty, spans=spans)


def texts(faulty: str, clean: str, *, of_each: int = ENOUGH) -> list[CheckedText]:
    return [text(faulty, faulty=True)] * of_each + [text(clean, faulty=False)] * of_each


def reader(**suspected: float) -> FakeWindowReader:
    return FakeWindowReader(words={word: contradicted(share) for word, share in suspected.items()})


def log_odds(share: float) -> float:
    return log(share / (1 - share))


def test_the_probability_tells_what_was_wrong_from_what_was_not() -> None:
    tuning = fitted(reader(north=0.7, south=0.2), texts("north", "south"))
    assert tuning.probability(log_odds(0.2)) < 0.1
    assert tuning.probability(log_odds(0.7)) > 0.9


def test_a_mixed_reading_has_the_share_that_it_stood_for() -> None:
    """Of the texts that look like this, three in four had an error."""
    mixed = [
        *([text("north", faulty=True)] * 60 + [text("north", faulty=False)] * 20),
        *([text("south", faulty=True)] * 20 + [text("south", faulty=False)] * 60),
    ]
    tuning = fitted(reader(north=0.7, south=0.2), mixed)
    assert tuning.probability(log_odds(0.7)) == pytest.approx(0.75, abs=0.02)
    assert tuning.probability(log_odds(0.2)) == pytest.approx(0.25, abs=0.02)


def test_it_counts_as_if_half_of_the_texts_had_an_error() -> None:
    uneven = [text("north", faulty=True)] * 200 + [text("north", faulty=False)] * 50
    tuning = fitted(reader(north=0.7), uneven)
    assert tuning.probability(log_odds(0.7)) == pytest.approx(0.5, abs=0.02)


def test_few_texts_without_error_have_marked_words() -> None:
    """A tenth of them looks worse than all that is wrong: the gate lets no more than it pass."""
    few = int(MOST_ALARMS * ENOUGH)
    clean = [text("south", faulty=False)] * (ENOUGH - few) + [text("north", faulty=False)] * few
    tuning = fitted(reader(north=0.9, south=0.6), [*texts("north", "south")[:ENOUGH], *clean])
    assert 0.6 < tuning.sentence_threshold < 0.9


def test_words_that_the_judge_leaves_unmarked_raise_no_threshold() -> None:
    """Nothing is near to them in the source, and they are not certain enough to be absent."""
    far = replace(text("south", faulty=False), output="Boats leave south often.")
    checked = [*texts("north", "daily")[:ENOUGH], *([far] * ENOUGH)]
    assert fitted(reader(north=0.9, south=0.75), checked).sentence_threshold == 0.5


def test_the_word_threshold_is_that_whose_marks_agree_best() -> None:
    """Its neighbour is suspected less, and is not wrong."""
    tuning = fitted(reader(north=0.65, daily=0.45), texts("north", "south"))
    assert 0.45 < tuning.threshold <= 0.65


def test_a_text_of_copies_has_no_evidence() -> None:
    copied = CheckedText(inputs=SOURCE, output="The ferry sails at noon.", faulty=False)
    tuning = fitted(reader(north=0.7), [text("north", faulty=True), copied] * LEAST)
    assert tuning.probability(log_odds(0.7)) > 0.9


@pytest.mark.parametrize("clean", [0, LEAST - 1])
def test_with_too_few_texts_nothing_is_fitted(clean: int) -> None:
    few = [text("north", faulty=True)] * ENOUGH + [text("south", faulty=False)] * clean
    assert fitted(reader(north=0.7), few) == Tuning()


def test_the_probability_rises_with_the_evidence_even_if_that_was_misleading() -> None:
    """A slope of 0 or less would call the safest text the worst."""
    assert fitted(reader(north=0.7, south=0.2), texts("south", "north")).slope > 0
