"""Words as ROUGE cuts them, and the one of its three numbers that is returned."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal, Self, get_args

from rouge_score_rs.tokenizers import (
    CharacterTokenizer,
    DefaultTokenizer,
    Tokenizer,
    UnicodeTokenizer,
)

from spanjury.judges.metrics.checks import check_choice
from spanjury.judges.metrics.words.cuts import Cut

Measure = Literal["precision", "recall", "f"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Script = Literal["english", "unicode", "characters"]
SCRIPTS: tuple[Script, ...] = get_args(Script)


@lru_cache(maxsize=8)
def rouge_tokenizer(script: Script, *, stem: bool) -> Tokenizer:
    """Return what cuts texts of `script`; only English is stemmed."""
    if script == "english":
        return DefaultTokenizer(use_stemmer=stem)
    return UnicodeTokenizer() if script == "unicode" else CharacterTokenizer()


def rouge_words(text: str, *, script: Script, stem: bool) -> Sequence[str]:
    """Return the words of `text`."""
    tokenizer: Tokenizer = rouge_tokenizer(script, stem=stem)
    words: list[str] = tokenizer.tokenize(text)
    return words


@lru_cache(maxsize=8)
def _rouge_cut(script: Script, *, stem: bool) -> Cut:
    is_plain = script == "english" and not stem
    return Cut(
        words=partial(rouge_words, script=script, stem=stem),
        plain="in lower case" if is_plain else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeOptions:
    """The options that all metrics of ROUGE share, and how they choose among three numbers.

    Parameters
    ----------
    measure
        Number that is returned: "f", their harmonic mean, "precision" or "recall". Of several
        references the one with the best F counts for all three.
    script
        How words are cut: "english" (as rouge-score: runs of a-z and 0-9), "unicode" (words of
        any script), or "characters".
    stem
        Whether words of more than three letters are stemmed (Porter); English only.
    """

    measure: Measure = "f"
    script: Script = "english"
    stem: bool = False

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, choices=MEASURES)
        check_choice("script", self.script, choices=SCRIPTS)
        if self.stem and self.script != "english":
            raise ValueError(f"stem is for script english only; got {self.script!r}")

    @property
    def ranking(self) -> Self:
        """The same by F: of several references the one that it says is best counts."""
        return replace(self, measure="f")

    @property
    def measure_name(self) -> str:
        """The measure as signatures have it, with how it chooses among references."""
        return self.measure if self.measure == "f" else f"{self.measure}-of-best-f"

    @property
    def cut_words(self) -> Cut:
        """The way in which the texts of a corpus are cut."""
        return _rouge_cut(self.script, stem=self.stem)

    def words(self, text: str) -> Sequence[str]:
        """Return the words of `text`."""
        return rouge_words(text, script=self.script, stem=self.stem)

    def measured(self, precision: float, recall: float) -> float:
        """Return the measure; F is 0 if both are 0."""
        total = precision + recall
        f = 2.0 * precision * recall / total if total else 0.0
        return {"precision": precision, "recall": recall, "f": f}[self.measure]
