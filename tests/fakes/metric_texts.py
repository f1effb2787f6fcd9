"""Pairs of texts for the tests of metrics: plain, noisy, odd, and none at all."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from spanjury.judges.core import Sample

# fmt: off
WORDS = (
    "the", "a", "cat", "dogs", "sat.", "on", "mat,", "running", "Runs", "(quick)", "brown",
    "fox's", "3.5", "10,000", "co-op", "&amp;", "don't", "naïve", "日本語", "émile", "e-mail",
    "U.S.", "$5", "100%", "🙂", "مرحبا", "house", "home", "car", "automobile", "happily", "glad",
)
# fmt: on
ODD_TEXTS = (
    "",
    " \n\t",
    "\ud800",
    "a\udfffb c",
    "日本語のテキスト。",
    "مرحبا بالعالم",
    "🙂🙂 👩‍👩‍👧",
    "...",
    "\u200b",
)


def varied_samples(count: int, *, references: int = 1, seed: int = 0) -> list[Sample]:
    """Return outputs with up to `references` references that are like them, more or less."""
    rng = np.random.default_rng(seed)

    def text() -> list[str]:
        return [str(word) for word in rng.choice(WORDS, size=rng.integers(1, 25))]

    def like(words: list[str]) -> str:
        return " ".join(str(rng.choice(WORDS)) if rng.random() < 0.4 else word for word in words)

    samples = []
    for _ in range(count):
        output = text()
        samples.append(
            Sample(
                output=" ".join(output),
                references=tuple(
                    like(output) if rng.random() < 0.7 else " ".join(text())
                    for _ in range(rng.integers(1, references + 1))
                ),
            )
        )
    return samples


def wild_samples(*, references: int = 1) -> st.SearchStrategy[list[Sample]]:
    """Return lists of samples of any texts, lone surrogates and blanks among them."""
    word = st.one_of(st.sampled_from(WORDS), st.text(st.characters(), max_size=4))
    text = st.one_of(st.sampled_from(ODD_TEXTS), st.lists(word, max_size=8).map(" ".join))
    several = st.lists(text, min_size=1, max_size=references).map(tuple)
    return st.lists(st.builds(Sample, output=text, references=several), min_size=1, max_size=4)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
