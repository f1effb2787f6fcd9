"""Fit the syllable rule to a pronouncing dictionary, and measure its accuracy.

Run as ``python -m benchmarks.syllables DICTIONARY FREQUENCIES [TEXT ...]``: a dictionary in
CMUdict's format, a file with a word and its frequency per line, and texts, one per line. It prints
how often the rule gives the dictionary's number on words that it was not fitted to, the reading
ease of the texts by the rule and by the dictionary, and the fitted pieces.

The fit is greedy: each step takes the piece of a word whose change by one syllable corrects most
words, weighted by the square root of their frequency.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from spanjury.judges.core import Sample
from spanjury.judges.metrics.reference_free.readability import (
    FleschReadingEase,
    read_dictionary,
    syllable_count,
)

LONGEST, FEWEST, STEPS = 6, 3, 400
_WORD = re.compile(r"[a-z][a-z']*")
_VOWELS = re.compile("[aeiouy]+")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words with their syllables and frequencies."""

    words: Sequence[str]
    syllables: Floats
    frequency: Floats

    def part(self, chosen: NDArray[np.intp]) -> "Words":
        """Return the words at the indices `chosen`."""
        return Words(
            words=[self.words[index] for index in chosen],
            syllables=self.syllables[chosen],
            frequency=self.frequency[chosen],
        )


def read(dictionary: str, frequencies: str) -> Words:
    """Read the words of a dictionary that have a frequency."""
    syllables_of = read_dictionary(dictionary)
    lines = Path(frequencies).read_text(encoding="utf-8").splitlines()
    often = {word: float(count) for word, count in (line.split() for line in lines)}
    words = [word for word in syllables_of if _WORD.fullmatch(word) and often.get(word)]
    return Words(
        words=words,
        syllables=np.array([syllables_of[word] for word in words], dtype=float),
        frequency=np.array([often[word] for word in words]),
    )


def fit(dictionary: Words, *, steps: int) -> Mapping[str, int]:
    """Return pieces of words, and how much each changes the number of vowel groups."""
    names, table = _pieces(dictionary.words)
    by_piece = table.T.tocsr()
    weights = np.sqrt(dictionary.frequency)
    groups = [max(1, len(_VOWELS.findall(word))) for word in dictionary.words]
    counts = np.array(groups, dtype=float)
    steps_of: Counter[str] = Counter()
    for _ in range(steps):
        missing = dictionary.syllables - counts
        more = by_piece @ (weights * np.where(missing >= 1, 1.0, -1.0))
        fewer = by_piece @ (weights * np.where(missing <= -1, 1.0, -1.0))
        step = 1 if more.max() >= fewer.max() else -1
        piece = int((more if step > 0 else fewer).argmax())
        steps_of[names[piece]] += step
        counts[table.indices[table.indptr[piece] : table.indptr[piece + 1]]] += step
    return {piece: step for piece, step in sorted(steps_of.items()) if step}


def _pieces(words: Sequence[str]) -> tuple[list[str], csc_matrix]:
    """Return the pieces that enough words contain, and a matrix of words by pieces."""
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(words):
        bounded = f"^{word}$"
        starts = range(len(bounded))
        parts = {bounded[at : at + n] for at in starts for n in range(1, LONGEST + 1)}
        for piece in sorted(parts):  # sorted, so that ties are resolved alike in every run
            rows_of[piece].append(number)
    kept = {piece: numbers for piece, numbers in rows_of.items() if len(numbers) >= FEWEST}
    rows = np.concatenate([np.array(numbers) for numbers in kept.values()])
    columns = np.repeat(np.arange(len(kept)), [len(numbers) for numbers in kept.values()])
    table = csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(kept)))
    return list(kept), table


def counted(word: str, pieces: Mapping[str, int]) -> int:
    """Count syllables as `syllable_count` does, but with these pieces."""
    bounded = f"^{word}$"
    parts = (
        bounded[at : at + n]
        for at in range(len(bounded))
        for n in range(1, min(LONGEST, len(bounded) - at) + 1)
    )
    return max(1, len(_VOWELS.findall(word)) + sum(pieces.get(part, 0) for part in parts))


def accuracy(dictionary: Words, counts: Sequence[int]) -> str:
    """Return a text with the shares of right counts, and the mean error in running text."""
    hit = np.array(counts) == dictionary.syllables
    off = np.average(np.array(counts) - dictionary.syllables, weights=dictionary.frequency)
    running = np.average(hit, weights=dictionary.frequency)
    return f"{hit.mean():.3f} of words, {running:.3f} of running words, {off:+.4f} a word"


def ease(texts: Iterable[str], *, dictionary: str) -> float:
    """Return the mean reading ease of texts."""
    metric = FleschReadingEase(dictionary=dictionary)
    return fmean(metric.score_segments([Sample(output=text) for text in texts]))


def main(dictionary: str, frequencies: str, *files: str) -> None:
    """Print the measurements and the pieces."""
    sample = read(dictionary, frequencies)
    order = np.random.default_rng(1).permutation(len(sample.words))
    cut = len(order) * 4 // 5
    seen, unseen = sample.part(order[:cut]), sample.part(order[cut:])
    pieces = fit(seen, steps=STEPS)
    held = [counted(word, pieces) for word in unseen.words]
    lines = [f"four fifths fitted, the last: {accuracy(unseen, held)}"]
    lines += [f"as shipped, all: {accuracy(sample, list(map(syllable_count, sample.words)))}"]
    for file in files:
        texts = Path(file).read_text(encoding="utf-8").splitlines()
        rule, truth = (ease(texts, dictionary=path) for path in ("", dictionary))
        lines.append(f"{file}: reading ease {rule:.1f} by rule, {truth:.1f} by dictionary")
    whole = fit(sample, steps=STEPS)
    for name, sign in (("more", 1), ("fewer", -1)):
        repeated = (
            " ".join([piece] * abs(step)) for piece, step in whole.items() if step * sign > 0
        )
        lines.append(f'{name} = """{" ".join(repeated)}"""')
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
