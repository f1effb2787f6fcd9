"""The judge `checker`: what it asks, what it marks, what it quotes, where it abstains."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fakes.checker import FakeChecker
from fakes.judges import ASPECT
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.checker.cutting import best_passages, claim_texts, passages_of, phrases
from spanjury.judges.checker.evidence import runs
from spanjury.judges.checker.judge import CheckerJudge
from spanjury.judges.core import (
    ClaimPair,
    ClaimSupport,
    ErrorSpan,
    Judge,
    JudgeError,
    Likelihoods,
    Outcome,
    Report,
    Rescorable,
    Segment,
    WordSupport,
)
from spanjury.judges.text.tokens import tokens

ARTICLE = (
    "The council said on Tuesday that the library will not close in May. "
    "It was built by Mary Evans in 1932 and holds 12,000 books. "
    "A new roof costs two million euros."
)
GOOD = "The library will not close in May."
BAD = "The roof costs ten million euros."
SENTENCES = st.lists(
    st.lists(st.sampled_from(["It", "ran", "roof", "May", "x" * 30]), min_size=1, max_size=15).map(
        lambda words: " ".join(words) + "."
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
COUNT = FakeChecker().count_tokens


def segment(output: str, **inputs: str) -> Segment:
    return Segment(segment_id="1", output=output, inputs=inputs or {"Article": ARTICLE})


async def judged(output: str, checker: FakeChecker | None = None, **options: object) -> Report:
    judge = CheckerJudge(checker=checker or FakeChecker(), **options)  # type: ignore[arg-type]
    return await judge.assess(segment(output), ASPECT)


async def test_a_text_is_as_likely_wrong_as_its_worst_claim() -> None:
    report = await judged(f"{GOOD} {BAD}")
    assert report.error_probability == pytest.approx(0.9)
    assert report.score == pytest.approx(5 - 4 * 0.9)
    (span,) = report.spans
    assert (span.text, span.start, span.category) == (BAD, len(GOOD) + 1, "not supported")
    assert span.probability == pytest.approx(0.9)
    assert report.rationale == (
        "1 place that the source does not support in 2 sentences that the judge read."
    )


async def test_pooled_by_the_mean_a_text_has_the_share_of_wrong_claims_and_the_same_errors() -> (
    None
):
    worst, mean = await judged(f"{GOOD} {BAD}"), await judged(f"{GOOD} {BAD}", pool="mean")
    assert mean.error_probability == pytest.approx((0.1 + 0.9) / 2)
    assert mean.score == pytest.approx(5 - 4 * 0.5)
    assert mean.spans == worst.spans


async def test_a_passage_has_one_sentence_if_that_is_the_most() -> None:
    checker = FakeChecker()
    await judged(GOOD, checker, passage_sentences=1)
    assert [f"{pair.passage} " for pair in checker.pairs] == [
        f"{sentence}. " for sentence in ARTICLE.rstrip(".").split(". ")
    ]


async def test_what_contradicts_a_claim_most_counts_against_it() -> None:
    opposed = FakeChecker(contradicting=frozenset({"roof"}))
    options: dict[str, Any] = {"passage_sentences": 1, "subtract_contradiction": True}
    report = await judged(GOOD, opposed, **options)
    assert report.error_probability == pytest.approx((1 - 0.9 + 0.8) / 2)
    with pytest.raises(JudgeError, match="needs a checker that tells contradictions"):
        await judged(GOOD, **options)


async def test_the_sentence_of_the_passage_that_decided_is_the_evidence() -> None:
    (span,) = (await judged(BAD)).spans
    (evidence,) = span.evidence
    assert evidence.text == "A new roof costs two million euros."
    assert ARTICLE[evidence.start : evidence.end] == evidence.text
    assert "two million" in span.explanation


async def test_a_text_whose_claims_have_no_word_of_the_source_has_no_evidence() -> None:
    (span,) = (await judged("Penguins swim quickly.")).spans
    assert span.evidence == ()
    assert span.explanation == "Nothing in the source supports 'Penguins swim quickly'."


async def test_a_claim_counts_by_the_passage_that_supports_it_best() -> None:
    checker = FakeChecker(size=26)
    report = await judged(
        "It was built by Mary Evans in 1932. The library will not close.", checker
    )
    assert report.error_probability == pytest.approx(0.1)
    assert report.spans == ()
    assert len({pair.passage for pair in checker.pairs}) > 1


async def test_a_checker_of_texts_marks_the_words_that_no_passage_supports() -> None:
    checker = FakeChecker(unit="text")
    output = f"{GOOD} A new roof costs ten hundred euros."
    report = await judged(output, checker)
    assert [pair.claim for pair in checker.pairs] == [output]
    (span,) = report.spans
    assert span.text == "ten hundred" == output[span.start : span.end]
    assert [item.text for item in span.evidence] == ["A new roof costs two million euros."]
    assert report.error_probability == pytest.approx(0.9)


async def test_a_word_of_grammar_between_two_wrong_words_is_marked_with_them() -> None:
    checker = FakeChecker(unit="text", supported={"or": 0.9, "no": 0.9})
    report = await judged("A new roof costs ten or twelve euros. Mary and no Evans.", checker)
    assert [span.text for span in report.spans] == ["ten or twelve"]


async def test_the_clause_that_shares_most_is_quoted_from_a_long_sentence() -> None:
    long = " and ".join(f"item {number} was put on a shelf of its own" for number in range(2))
    source = f"In the evening {long}, the roof costs two million euros, and people went home."
    report = await CheckerJudge(checker=FakeChecker()).assess(segment(BAD, Article=source), ASPECT)
    (evidence,) = report.spans[0].evidence
    assert (
        evidence.text == "the roof costs two million euros" == source[evidence.start : evidence.end]
    )


async def test_a_record_is_the_evidence_in_data() -> None:
    data = "roof: two million euros\nlibrary: 12,000 books\nbuilt: 1932"
    report = await CheckerJudge(checker=FakeChecker()).assess(
        segment("The library has 15,000 books.", Data=data), ASPECT
    )
    assert [item.text for item in report.spans[0].evidence] == ["library: 12,000 books"]


async def test_a_contradicted_claim_has_another_category_than_a_missing_one() -> None:
    checker = FakeChecker(contradicting=frozenset({"roof"}))
    (span,) = (await judged(BAD, checker)).spans
    assert span.category == "contradicted"
    assert span.explanation == "The source says: 'A new roof costs two million euros'."
    silent = FakeChecker(contradicting=frozenset({"penguin"}))
    assert (await judged(BAD, silent)).spans[0].category == "not in the source"


async def test_between_the_thresholds_a_claim_is_unverified() -> None:
    report = await judged(GOOD, FakeChecker(supported={"library": 0.6}))
    assert report.spans == ()
    (sentence,) = report.unverified
    assert sentence.text == GOOD
    assert sentence.probability == pytest.approx(0.4)
    assert "0.60" in sentence.reason
    assert (await judged(GOOD, FakeChecker(supported={"library": 0.8}))).unverified == ()


async def test_where_a_pronoun_leads_the_sentence_before_is_read_too() -> None:
    checker = FakeChecker()
    await judged(f"{GOOD} It holds 12,000 books. Mary Evans built it.", checker)
    assert [pair.claim for pair in checker.pairs] == [
        GOOD,
        f"{GOOD} It holds 12,000 books.",
        "Mary Evans built it.",
    ]


async def test_only_the_claim_is_marked_and_not_what_was_read_before_it() -> None:
    output = f"{GOOD} It holds twenty books."
    (span,) = (await judged(output)).spans
    assert span.text == "It holds twenty books."


async def test_the_shortest_phrase_without_which_a_claim_holds_is_marked() -> None:
    checker = FakeChecker()
    output = f"{GOOD} It costs ten million euros. Penguins and whales swim."
    report = await judged(output, checker, phrases=True)
    assert [span.text for span in report.spans] == ["ten", "Penguins and whales swim."]
    assert f"{GOOD} It costs million euros." in {pair.claim for pair in checker.pairs}
    assert report.error_probability == pytest.approx(0.9)
    assert all(output[span.start : span.end] == span.text for span in report.spans)


def test_phrases_are_content_words_and_their_runs() -> None:
    text = "He paid ten-million euros for it, in Halvern."
    pieces = [text[start:end] for start, end in phrases(text, (0, len(text)))]
    assert pieces == ["ten", "paid", "euros", "million", "Halvern", "paid ten-million euros"]
    assert phrases("The roof.", (0, 9)) == []


async def test_pairs_are_checked_a_batch_at_a_time() -> None:
    checker = FakeChecker()
    await judged(" ".join([GOOD] * 40), checker)
    assert checker.calls == [16, 16, 8]


@pytest.mark.parametrize(
    ("output", "inputs", "reason"),
    [
        ("…", {}, "no claim"),
        (GOOD, {"Article": " "}, "no input to compare with"),
        ("Die Bibliothek wird nicht im Mai und nicht mit dem Rat geschlossen.", {}, "German"),
        (GOOD, {"Article": "Библиотека не закроется в мае."}, "Cyrillic"),
    ],
)
async def test_it_abstains_where_it_cannot_tell(
    output: str, inputs: dict[str, str], reason: str
) -> None:
    report = await CheckerJudge(checker=FakeChecker()).assess(segment(output, **inputs), ASPECT)
    assert report.outcome is Outcome.ABSTAINED
    assert reason in (report.reason or "")


async def test_it_abstains_on_other_aspects() -> None:
    judge = CheckerJudge(checker=FakeChecker())
    report = await judge.assess(segment(GOOD), replace(ASPECT, kind="form"))
    assert report.outcome is Outcome.ABSTAINED


async def test_a_checker_of_any_language_is_asked_in_any() -> None:
    output = "Die Bibliothek wird nicht im Mai und nicht mit dem Rat geschlossen."
    report = await judged(output, any_language=True)
    assert report.outcome is Outcome.SCORED


async def test_its_own_errors_make_its_own_score_and_more_errors_a_lower_one() -> None:
    judge = CheckerJudge(checker=FakeChecker(supported={"ten": 0.4}))
    assert isinstance(judge, Judge)
    assert isinstance(judge, Rescorable)
    report = await judge.assess(segment(BAD), ASPECT)
    same = await judge.rescore(segment(BAD), ASPECT, report.spans)
    assert same.report.score == report.score
    more = ErrorSpan(text="", explanation="It omits the roof.", severity=5, probability=0.9)
    worse = await judge.rescore(segment(BAD), ASPECT, [*report.spans, more])
    none = await judge.rescore(segment(BAD), ASPECT, [])
    assert (worse.report.score or 0) < (report.score or 0) < (none.report.score or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Short(FakeChecker):
    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        return FakeChecker.check(self, pairs)[1:]


async def test_a_checker_that_leaves_an_answer_out_costs_the_seat() -> None:
    with pytest.raises(JudgeError, match="0 answers on 1 pairs"):
        await judged(GOOD, _Short())


async def test_a_checker_may_give_numbers_of_numpy() -> None:
    word = WordSupport(np.int64(0), np.int64(3), np.float32(0.25))  # type: ignore[arg-type]  # another's code
    given = ClaimSupport(supported=np.float32(0.25), contradicted=np.float64(0.5), words=(word,))  # type: ignore[arg-type]  # as above
    assert {type(number) for number in (given.supported, given.contradicted)} == {float}
    assert [type(number) for number in given.words[0]] == [int, int, float]
    report = await judged(GOOD, _other(check=lambda pairs: [given for _ in pairs]))
    assert type(report.score) is float


def _other(**methods: Callable[..., object]) -> Any:  # noqa: ANN401  a checker of another's code
    fake = FakeChecker()
    usual = {"room": fake.room, "count_tokens": fake.count_tokens, "check": fake.check}
    return SimpleNamespace(signature="fake", unit="sentence", **{**usual, **methods})


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"check": lambda pairs: [0.1 for _ in pairs]}, "check .* returned 0.1 in its list, not a"),
        ({"check": lambda _: None}, "check .* returned None, not a list of ClaimSupport"),
        ({"check": lambda pairs: pairs[99]}, "check .* failed: IndexError"),
        ({"count_tokens": lambda _: [1, 2, 3, 4]}, "count_tokens .* gave 4 numbers for 1 texts"),
        ({"count_tokens": lambda _: None}, "count_tokens .* failed: TypeError"),
        ({"room": lambda: None}, "room .* failed: TypeError"),
    ],
)
async def test_a_wrong_checker_is_named(
    wrong: dict[str, Callable[..., object]], reason: str
) -> None:
    with pytest.raises(JudgeError, match=reason) as caught:
        await judged(GOOD, _other(**wrong))
    assert "of the checker fake failed" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.0},
        {"vouched": 1.5},
        {"passages": -1},
        {"passage_sentences": -1},
        {"pool": ""},
    ],
)
def test_numbers_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="got"):
        CheckerJudge(checker=FakeChecker(), **options)  # type: ignore[arg-type]


def test_the_signature_changes_with_options_and_checker() -> None:
    judge = CheckerJudge(checker=FakeChecker())
    others = (replace(judge, passages=3), replace(judge, pool="mean"))
    assert judge.signature.startswith("checker|checker:fake|threshold:0.5|")
    assert len({judge.signature, *(other.signature for other in others)}) == 3


@given(text=SENTENCES, most=st.integers(1, 60))
def test_passages_hold_every_word_and_none_has_too_many(text: str, most: int) -> None:
    passages = passages_of({"a": text, "b": text}, most=most, count_tokens=COUNT)
    for name in "ab":
        spots = {
            at
            for passage in passages
            for sentence in passage.sentences
            if sentence.input == name
            for at in range(sentence.start, sentence.end)
        }
        assert all(at in spots for at, letter in enumerate(text) if letter.isalnum())
    assert max(COUNT([passage.text for passage in passages])) <= most


@given(text=SENTENCES, room=st.integers(2, 80), unit=st.sampled_from(["sentence", "text"]))
def test_claims_hold_every_word_once_and_none_has_too_many(text: str, room: int, unit: str) -> None:
    texts = claim_texts(text, unit=unit, room=room, count_tokens=COUNT)  # type: ignore[arg-type]
    claims = [claim for read in texts for claim in read.claims]
    spots = [at for start, end in claims for at in range(start, end) if text[at].isalnum()]
    assert spots == [at for at, letter in enumerate(text) if letter.isalnum()]
    assert max(COUNT([text[read.start : read.end] for read in texts])) <= max(1, room // 2)


def test_passages_that_share_rare_words_come_first() -> None:
    source = "The roof is new. The roof is red. The roof is in Halvern. The roof is old."
    passages = passages_of({"a": source}, most=5, count_tokens=COUNT)
    claims = ["The roof of Halvern", "Penguins swim."]
    best, first = best_passages(claims, passages, limit=1)
    assert [passage.text for passage in (*best, *first)] == [
        "The roof is in Halvern.",
        "The roof is new.",
    ]
    assert [len(beside) for beside in best_passages(claims, passages, limit=0)] == [4, 4]


def marked(text: str, *words: str) -> list[str]:
    """Return the runs of `text` where every one of `words` is contradicted, punctuation too."""
    read = tokens(text)
    bad, good = Likelihoods(0.1, 0.9, 0.0), Likelihoods(0.9, 0.1, 0.0)
    likely = [bad if token.text in words else good for token in read]
    runs_found = runs(read, likely, threshold=0.5)
    return [text[read[run.first].start : read[run.stop - 1].end] for run in runs_found]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("He sold two red cars.", ["two", "cars"], ["two", "cars"]),
        ("He sold cars in Paris.", ["cars", "Paris"], ["cars in Paris"]),
        ("He sold cars out of Paris.", ["cars", "Paris"], ["cars", "Paris"]),
        ("He sold cars, Paris and all.", ["cars", "Paris"], ["cars", "Paris"]),
        ("A well-known man.", ["known", "man"], ["well-known man"]),
        ("An old-fashioned man.", ["old", "fashioned"], ["old-fashioned"]),
        ("A state-of-the-art house.", ["art"], ["state-of-the-art"]),
        ("A state-of-the-art house.", ["state", "art"], ["state-of-the-art"]),
        ("An old - red car.", ["red"], ["red"]),
        ("It was in the house of Ann.", ["in", "the", "house", "of"], ["house"]),
        ("It did not close.", ["did", "not"], ["not"]),
        ("It may not be.", ["may", "be"], ["may not be"]),
        ("It didn't close.", ["didn't", "close"], ["didn't close"]),
        ("So she left him.", ["she"], ["she"]),
        ("It closed .", ["."], []),
        ("It closed !", ["closed", "!"], ["closed"]),
    ],
)
def test_marked_words_become_runs(text: str, words: Sequence[str], expected: list[str]) -> None:
    assert marked(text, *words) == expected
