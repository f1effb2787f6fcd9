"""A locator finds what is quoted, at the right code points, and nothing that is not there."""

import pytest
import rapidfuzz
from numpy.random import default_rng

from spanjury.judges.core import Located
from spanjury.judges.text import LocatedQuote, Locator

ARTICLE = (
    "The council approved the new bridge on Monday. Work begins in May, the mayor said, and "
    "should take two years. Critics fear that the £40m plan will swallow the repair budget. "
    "“We were never asked,” said a shopkeeper on the north bank. The council approved a "
    "second crossing last year, which was never built, and the old ferry still runs twice a day."
)


def located(text: str, quote: str) -> tuple[str, Located] | None:
    passage = Locator(text).find(quote)
    return None if passage is None else (text[passage.start : passage.end], passage.located)


@pytest.mark.parametrize(
    "quote", ["The council", "£40m plan", "“We were never asked,”", " in May, ", ".", ARTICLE]
)
def test_a_verbatim_quote_is_exact(quote: str) -> None:
    assert located(ARTICLE, quote) == (quote, Located.EXACT)


def test_a_quote_is_found_whatever_its_spelling() -> None:
    for text, quote, expected in [
        ("He said “no way” twice.", 'said "NO WAY"', "said “no way”"),
        ("It -- slowly --  fell", "it — slowly — fell", "It -- slowly --  fell"),
        ("one\n\ntwo\u00a0three", "one two three", "one\n\ntwo\u00a0three"),
        ("paid £ 70bn , he said .", "£70bn, he said.", "£ 70bn , he said ."),
        ("``mother armenia'' fell", '"mother armenia" fell', "``mother armenia'' fell"),
        ("Wait… what", "wait... what", "Wait… what"),
        ("in İstanbul today", "i\u0307stanbul", "İstanbul"),
        ("die Straße dort", "STRASSE", "Straße"),
        ("an eﬃcient plan", "EFFICIENT PLAN", "eﬃcient plan"),
        ("İİİ ßß ﬁﬁ 😀😀 Ende", "ende", "Ende"),
        ("un cafe\u0301 noir", "caf\u00e9 noir", "cafe\u0301 noir"),
        ("un caf\u00e9 noir", "CAFE\u0301", "caf\u00e9"),
        ("I ❤\ufe0f it", "❤ IT", "❤\ufe0f it"),
        ("\ud800 Bad \udfff data", "bad", "Bad"),
        ("a\0B c", "A\0b", "a\0B"),
        ("全角ＡＢＣ。", "abc", "ＡＢＣ"),
    ]:
        assert located(text, quote) == (expected, Located.NORMALISED), (text, quote, expected)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ('"Work begins in May"', "Work begins in May"),
        ("`Work begins in May`", "Work begins in May"),
        ("“Work begins in May.”", "Work begins in May"),
        ("Work begins in May...", "Work begins in May"),
        ("…the mayor said…", "the mayor said"),
        ("(the mayor said)", "the mayor said"),
        ("Critics fear that **the £40m plan** will", "Critics fear that the £40m plan will"),
        ("**second crossing**", "second crossing"),
        (
            "Work begins ... two years",
            "Work begins in May, the mayor said, and should take two years",
        ),
        (
            "Critics […] repair budget.",
            "Critics fear that the £40m plan will swallow the repair budget",
        ),
        ("The council … second crossing", "The council approved a second crossing"),
    ],
)
def test_marks_around_or_inside_a_quote_do_not_hide_it(quote: str, expected: str) -> None:
    assert located(ARTICLE, quote) == (expected, Located.NORMALISED)


def test_a_vowel_sign_of_thai_is_not_part_of_the_quote_before_it() -> None:
    assert Locator('0"ำ').find("0'") == LocatedQuote(start=0, end=2, located=Located.NORMALISED)


def test_an_elided_quote_whose_parts_stand_in_another_order_is_not_taken_for_found() -> None:
    assert located(ARTICLE, "two years ... Work begins") is None


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("the council aproved the new bridge", "The council approved the new bridge"),
        ("work began in May", "Work begins in May"),
        ("fear that the £40m plan would swallow", "fear that the £40m plan will swallow"),
        ("a shop keeper on the northern bank", "a shopkeeper on the north bank"),
    ],
)
def test_a_slightly_misquoted_passage_is_found_at_whole_words(quote: str, expected: str) -> None:
    assert located(ARTICLE, quote) == (expected, Located.FUZZY)


@pytest.mark.parametrize(
    "quote",
    [
        "The minister resigned over the scandal",
        "omission of the opposition's view",
        "cat",
        "x",
        "zzzzzzzzzzzzzzzz",
        "The whole summary is misleading: it leaves out what the other side had to say of it.",
        ARTICLE[::-1],
        ARTICLE * 3,
    ],
)
def test_a_quote_that_is_not_in_the_text_is_not_found(quote: str) -> None:
    assert located(ARTICLE, quote) is None


def test_a_long_misquotation_is_found_where_it_begins_and_ends() -> None:
    passage = ARTICLE[ARTICLE.index("Critics") : ARTICLE.index(" The council approved a")]
    quote = passage.replace("fear", "worry").replace("never", "not").replace("swallow", "eat up")
    assert located(ARTICLE, quote) == (passage, Located.FUZZY)


def test_a_long_quote_that_leaves_out_a_clause_spans_the_clause() -> None:
    passage = ARTICLE[ARTICLE.index("The council approved a") :]
    quote = passage.replace(", which was never built,", "")
    assert located(ARTICLE, quote) == (passage, Located.FUZZY)


def test_the_best_of_several_similar_passages_is_found() -> None:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    lines = [
        f"On {day} the committee met {number} witnesses, among them the former head of the "
        f"harbour, who spoke for {number * 3} minutes about dredging and the cost of sand."
        for number, day in enumerate(days, start=2)
    ]
    text = " ".join(lines)
    assert located(text, lines[3].replace("met", "has met")) == (lines[3], Located.FUZZY)


def test_a_quote_of_a_few_letters_is_never_found_by_similarity() -> None:
    assert located("a note on cats", "cots") is None


def test_a_repeated_quote_takes_one_occurrence_after_the_other_and_then_the_last() -> None:
    locator = Locator("no. No! no? NO")
    passages = [locator.find("no") for _ in range(3)]
    assert [passage.start for passage in passages if passage] == [0, 8, 8]
    shouted = [locator.find("'No'") for _ in range(4)]
    assert [passage.start for passage in shouted if passage] == [4, 12, 12, 12]


def test_parts_of_words_are_taken_one_after_the_other_and_after_whole_words() -> None:
    locator = Locator("cats, bats, rats")
    passages = [locator.find("ats") for _ in range(4)]
    assert [passage.start for passage in passages if passage] == [1, 7, 13, 13]
    mixed = Locator("a cat, cats, a cat")
    passages = [mixed.find("cat") for _ in range(3)]
    assert [passage.start for passage in passages if passage] == [2, 15, 15]


def test_occurrences_in_the_parts_to_be_searched_first_come_first() -> None:
    locator = Locator("a 5, b 5, c 5", first=[(5, 8), (0, 3)])
    starts = [match.start for _ in range(4) if (match := locator.find("5"))]
    assert starts == [7, 2, 12, 12]


def test_one_occurrence_is_not_given_to_two_spellings_of_a_quote() -> None:
    locator = Locator("The end. the end")
    assert locator.find("the end") == LocatedQuote(start=9, end=16, located=Located.EXACT)
    assert locator.find("THE END") == LocatedQuote(start=0, end=7, located=Located.NORMALISED)


@pytest.mark.parametrize(
    ("text", "quote", "start"),
    [
        ("the theatre and he", "he", 16),
        ("concatenate a cat", "cat", 14),
        ("concatenate", "cat", 3),
        ("15 or 5", "5", 6),
        ("cafe\u0301 or cafe", "cafe", 9),
        ("今日は天気。", "天気", 3),
    ],
)
def test_a_whole_word_is_preferred_to_a_part_of_one(text: str, quote: str, start: int) -> None:
    assert Locator(text).find(quote) == LocatedQuote(
        start=start, end=start + len(quote), located=Located.EXACT
    )


def test_a_folded_quote_never_cuts_a_letter_in_two() -> None:
    assert located("un cafe\u0301", "UN CAFE") == ("un cafe\u0301", Located.FUZZY)
    assert located("an eﬃcient plan", "CIENT PLAN") is not None
    assert located("ﬁ", "I") is None


@pytest.mark.parametrize("quote", ["", " ", "\n\t\u00a0"])
def test_a_blank_quote_is_nowhere_and_its_span_has_no_text(quote: str) -> None:
    span = Locator(ARTICLE).span(quote=quote, explanation="the cost is missing", severity=2)
    assert (span.text, span.interval, span.located) == ("", None, Located.UNLOCATED)
    assert not span.hallucinated


def test_a_span_holds_the_text_and_not_the_quote() -> None:
    span = Locator(ARTICLE).span(
        quote='"the COUNCIL approved"', explanation="who?", severity=3, category="vague"
    )
    assert (span.interval, span.text) == ((0, 20), "The council approved")
    assert (span.explanation, span.severity, span.category) == ("who?", 3, "vague")


def test_a_quote_that_is_not_in_the_text_is_kept_and_counts_as_hallucinated() -> None:
    span = Locator(ARTICLE).span(quote="purple elephants", explanation="why", severity=None)
    assert (span.text, span.interval, span.hallucinated) == ("purple elephants", None, True)


def test_odd_texts_and_quotes_do_no_harm() -> None:
    for text in ["", " ", "\0", "\ud800", "\u0301", "\u200d", "'", "…"]:
        for quote in ["a", "\0", "\udfff", "\u0301", "\u200b", '""', "...", "a...b", "*"]:
            passage = Locator(text).find(quote)
            assert passage is None or 0 <= passage.start < passage.end <= len(text), (text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a" * 10_000, "a" * 5_000 + "b"),
        ("ab" * 5_000, "ab" * 2_000 + "c"),
        ("a" * 10_000, "A" * 10_000),
        ("e\u0301" * 5_000, "E\u0301" * 3_000 + "b"),
    ],
)
def test_long_repetitions_are_found(text: str, quote: str) -> None:
    assert Locator(text).find(quote) is not None


@pytest.mark.heavy
@pytest.mark.parametrize("length", [6, 30])
def test_thousands_of_misquotations_are_found_without_reading_the_text_for_each(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    align = rapidfuzz.fuzz.partial_ratio_alignment

    def counted(quote: str, window: str, *, score_cutoff: float) -> object:
        nonlocal read
        read += len(window)
        return align(quote, window, score_cutoff=score_cutoff)

    monkeypatch.setattr(rapidfuzz.fuzz, "partial_ratio_alignment", counted)
    letters = default_rng(1).choice([*"abcdefghijklmnopqrstuvwxyz"], (20_000, 7))
    words = ["".join(row) for row in letters]
    locator, text = Locator(" ".join(words)), " ".join(words)
    quotes = 2000
    for number in range(quotes):
        first = number * (20_000 - length) // quotes
        quoted = words[first : first + length]
        passage = locator.find(" ".join([*quoted[:-2], "zzz", quoted[-1]]))
        assert passage is not None
        assert text[passage.start : passage.end].startswith(" ".join(quoted[:-2]))
        assert locator.find(f"{number} {'0123456789' * 3}") is None
    assert read < 6_000_000  # of 2000 times 150,000 characters
