"""Words as ROUGE cuts them, and the one of its three numbers that is returned."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

from rouge_score_rs.tokenizers import (
    CharacterTokenizer,
    DefaultTokenizer,
    Tokenizer,
    UnicodeTokenizer,
)

__all__ = [
    "MEASURES",
    "SCRIPTS",
    "Measure",
    "Script",
    "f_measure",
    "measure_name",
    "rouge_tokenizer",
    "rouge_words",
]

Measure = Literal["precision", "recall", "f"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Script = Literal["english", "unicode", "characters"]
SCRIPTS: tuple[Script, ...] = get_args(Script)

_LONG, _KEPT = 20_000, 8_192  # code points of a text whose words are not kept, and texts


@lru_cache(maxsize=8)
def rouge_tokenizer(script: Script, *, stem: bool) -> Tokenizer:
    """Return what cuts texts of `script`; only English is stemmed."""
    if script == "english":
        return DefaultTokenizer(use_stemmer=stem)
    return UnicodeTokenizer() if script == "unicode" else CharacterTokenizer()


def rouge_words(text: str, *, script: Script, stem: bool) -> Sequence[str]:
    """Return the words of `text`."""
    return (_cut if len(text) > _LONG else _kept_cut)(text, script, stem)


def _cut(text: str, script: Script, stem: bool) -> list[str]:  # noqa: FBT001
    tokenizer: Tokenizer = rouge_tokenizer(script, stem=stem)
    words: list[str] = tokenizer.tokenize(text)
    return words


_kept_cut = lru_cache(maxsize=_KEPT)(_cut)


def measure_name(measure: Measure) -> str:
    """Name a measure in a signature, with the way in which it chooses among references."""
    return measure if measure == "f" else f"{measure}-of-best-f"


def f_measure(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if both are 0."""
    total = precision + recall
    return 2.0 * precision * recall / total if total else 0.0
