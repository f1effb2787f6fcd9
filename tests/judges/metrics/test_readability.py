"""Readability: the formulas, counts that are those of textstat, and syllables."""

from collections.abc import Callable
from pathlib import Path

import pytest
import textstat
from hypothesis import given
from hypothesis import strategies as st
from textstat.backend import counts
from textstat.backend.counts import _count_syllables

from spanjury.judges.core import ConfigError, Sample, SegmentMetric
from spanjury.judges.metrics.reference_free.readability import (
    ColemanLiau,
    FleschKincaidGrade,
    FleschReadingEase,
    GunningFog,
    letter_count,
    sentence_count,
    syllable_count,
    syllables_of,
    word_list,
)

CAT = "The cat sat on the mat. It was very comfortable."
METRICS = [FleschReadingEase(), FleschKincaidGrade(), GunningFog(), ColemanLiau()]
LOWEST = {"flesch-kincaid-grade": -3.4, "gunning-fog": 0.0, "coleman-liau": -39.52}
PIECES = [
    *("the", "Cat", "don't", "O'Neill", "'tis", "she's", "3.5", "well-known", "U.S.", "İstanbul"),
    *(
        "réservé",
        "字典",
        "…",
        "!",
        "?!",
        ".",
        ". ",
        " ",
        "\n",
        "\x1c",
        "_",
        "'",
        "''s",
        "’",
        "\ud800",
    ),
    *("readability", "comfortable", "university", "we'll", "I'D", "(see", "below)", ",", "\x00"),
]
TEXTS = st.lists(st.sampled_from([*PIECES, " ", " "]), max_size=40).map("".join) | st.text()


class Phones(dict[str, list[list[str]]]):
    """A pronouncing dictionary that knows every word: as many vowels as we count syllables."""

    def __missing__(self, word: str) -> list[list[str]]:
        return [["AH0"] * syllable_count(word)]


@pytest.fixture(autouse=True)
def _textstat_with_our_syllables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give textstat a dictionary: it would download one."""
    monkeypatch.setattr(_count_syllables, "get_cmudict", lambda _: Phones())


def score(metric: SegmentMetric, text: str) -> float:
    (value,) = metric.score_segments([Sample(output=text)])
    return value


def test_the_formulas_by_hand() -> None:
    # 10 words, 2 sentences, 37 letters; syllables 6 of "The … mat", It 1, was 1, very 2,
    # comfortable 4: 14 in all.
    assert score(FleschReadingEase(), CAT) == pytest.approx(206.835 - 1.015 * 5 - 84.6 * 1.4)
    assert score(FleschKincaidGrade(), CAT) == pytest.approx(0.39 * 5 + 11.8 * 1.4 - 15.59)
    assert score(GunningFog(), CAT) == pytest.approx(0.4 * (5 + 100 * 1 / 10))
    assert score(ColemanLiau(), CAT) == pytest.approx(0.0588 * 370 - 0.296 * 20 - 15.8)


def test_a_pronouncing_dictionary_tells_syllables(tmp_path: Path) -> None:
    path = tmp_path / "cmudict"
    # Both forms in which the dictionary is given away.
    path.write_text(
        "VERY 1 V EH1 R IY0\n;;; a comment\ncomfortable K AH1 M F T ER0 B AH0 L # three\n"
        "comfortable(2) K AH1 M F ER0 T AH0 B AH0 L\n\n",
        encoding="utf-8",
    )
    dictionary = str(path)
    # very has 2 and comfortable 3: 13 in all.
    assert score(FleschReadingEase(dictionary=dictionary), CAT) == pytest.approx(
        206.835 - 1.015 * 5 - 84.6 * 1.3
    )
    assert FleschReadingEase(dictionary=dictionary).signature != FleschReadingEase().signature


def test_a_file_that_is_no_dictionary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="missing"):
        GunningFog(dictionary=str(tmp_path / "missing"))
    (tmp_path / "prose").write_text("no phones here\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="no word with phones"):
        FleschKincaidGrade(dictionary=str(tmp_path / "prose"))


@given(TEXTS)
def test_counts_are_those_of_textstat(text: str) -> None:
    words = word_list(text)
    assert len(words) == counts.count_words(text)
    assert letter_count(text, words=words) == counts.count_letters(text)
    if text:  # where textstat has no sentence, and we have one
        assert sentence_count(text) == counts.count_sentences(text)


SPOKEN = {
    1: """the cat sat don't she's we'll I'd walked changed hope makes strengths eyes loved
        though queue 1935 3.5 bridge worked named""",
    2: """very being people river opened lion science poem create yellow table little even
        something sometimes didn't business therefore quiet wanted needed places""",
    3: """example beautiful important government idea area video president however company
        yesterday September expected piano radio""",
    4: "comfortable information community political situation original ability society",
}


def test_syllables_are_counted_as_they_are_spoken() -> None:
    words = [(word.lower(), count) for count, line in SPOKEN.items() for word in line.split()]
    wrong = {word: syllable_count(word) for word, count in words if syllable_count(word) != count}
    assert not wrong


def test_letters_with_accents_are_letters_and_other_scripts_have_one_syllable() -> None:
    pairs = {"réservé": "reserve", "café": "cafe", "naïve": "naive"}
    assert {word: syllable_count(word) for word in pairs} == {
        word: syllable_count(plain) for word, plain in pairs.items()
    }
    assert [syllable_count(word) for word in ("字典", "", "1935", "'", "дом")] == [1] * 5


@given(TEXTS)
def test_syllables_of_a_text_are_added_up_as_by_textstat(text: str) -> None:
    syllables = syllables_of("")
    value = [syllables[word] for word in word_list(text)]
    assert sum(value) == counts.count_syllables(text, "en_US")


@pytest.mark.parametrize(
    ("metric", "peer"),
    [
        (FleschReadingEase(), textstat.flesch_reading_ease),
        (FleschKincaidGrade(), textstat.flesch_kincaid_grade),
    ],
)
@given(text=TEXTS)
def test_values_are_those_of_textstat(
    metric: SegmentMetric, peer: Callable[[str], float], text: str
) -> None:
    assert score(metric, text) == pytest.approx(peer(text), abs=1e-9)


@given(TEXTS)
def test_complex_words_are_those_of_textstat(text: str) -> None:
    words = counts.count_words(text)
    share = counts.count_polysyllable_words(text, "en_US") / words if words else 0
    length = words / counts.count_sentences(text) if words else 0
    assert score(GunningFog(), text) == pytest.approx(0.4 * (length + 100 * share), abs=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature)
@given(text=TEXTS)
def test_values_are_within_their_bounds(metric: SegmentMetric, text: str) -> None:
    name = metric.signature.partition("|")[0]
    value = score(metric, text)
    assert LOWEST[name] <= value < 1e9 if name in LOWEST else -1e9 < value <= 121.22


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature)
def test_texts_without_words_have_0(metric: SegmentMetric) -> None:
    assert [score(metric, text) for text in ("", " \n", "?!", "👍")] == [0, 0, 0, 0]


def test_the_shortest_text_is_the_easiest() -> None:
    assert score(FleschReadingEase(), "Go") == 121.22
    assert score(FleschKincaidGrade(), "Go") == pytest.approx(-3.4)


@pytest.mark.parametrize(
    "text", ["A b c. " * 150_000, "a-" * 500_000, "字典" * 100_000, "( " * 500_000]
)
def test_long_texts_are_counted(text: str) -> None:
    assert word_list(text) or text.startswith("(")
    assert sentence_count(text) == (150_000 if text.startswith("A") else 1)
    assert abs(score(ColemanLiau(), text)) < 1e8


def test_syllables_are_kept_up_to_a_limit() -> None:
    syllables = syllables_of("")
    for number in range(70_000):
        assert syllables[f"{number}"] == 1
    assert 0 < len(syllables) <= 1 << 16
