"""Pages about words that an output shares with references: n-grams, and an alignment."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from spanjury.orchestration.report import Table, table
from spanjury.orchestration.report.drawings.drawing import (
    JsonText,
    MarkedText,
    make_page,
    marked_json,
    measured,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramPlaces:
    """An n-gram of 1 or more words that occurs in the output and in a reference.

    Positions are indices of its first word: one or more in the output, and a tuple for each
    reference, which is empty if the reference lacks the n-gram.
    """

    n: int
    output: tuple[int, ...]
    references: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNgrams:
    """An output, its references and the n-grams that they share.

    `longest`, 1 or more, is the greatest n on the page; `ngrams` has the shared n-grams for each n
    up to it. Raises `ValueError` if there is no reference, or an n-gram lies outside its text.
    """

    title: str
    output: MarkedText
    references: tuple[MarkedText, ...]
    longest: int
    ngrams: tuple[NgramPlaces, ...]

    def __post_init__(self) -> None:
        if not self.references:
            raise ValueError("n-grams are shared with one reference or more, got none")
        for ngram in self.ngrams:
            self._check(ngram)

    def _check(self, ngram: NgramPlaces) -> None:
        if not 1 <= ngram.n <= self.longest:
            raise ValueError(f"expected n from 1 to {self.longest}, got {ngram.n}")
        texts = (self.output, *self.references)
        for text, starts in zip(texts, (ngram.output, *ngram.references), strict=True):
            if any(not 0 <= start <= len(text.words) - ngram.n for start in starts):
                raise ValueError(f"an n-gram of {ngram.n} words is not within its text: {starts}")


def ngram_page(shared: SharedNgrams) -> str:
    """Return a page with shared n-grams marked, and a slider for n."""
    texts = [marked_json(text) for text in (shared.output, *shared.references)]
    theirs = _listed(len(text.words) for text in shared.references)
    steps = [_step(shared, n) for n in range(1, shared.longest + 1)]
    return make_page(
        shared.title,
        summary=(
            f"Words in the output: {len(shared.output.words):,}; in the references: {theirs}",
        ),
        drawing="ngrams",
        data={"output": texts[0], "references": texts[1:], "steps": steps},
        table=_ngram_table(shared, texts),
    )


def _step(shared: SharedNgrams, n: int) -> dict[str, object]:
    """Return the data of the page for one n; ``clipped`` is the count that BLEU uses."""
    ngrams = [ngram for ngram in shared.ngrams if ngram.n == n]
    return {
        "places": [[ngram.output, *ngram.references] for ngram in ngrams],
        "clipped": sum(_clipped(ngram) for ngram in ngrams),
        "all": max(0, len(shared.output.words) - n + 1),
    }


def _clipped(ngram: NgramPlaces) -> int:
    return min(len(ngram.output), max(len(starts) for starts in ngram.references))


def _ngram_table(shared: SharedNgrams, texts: list[JsonText]) -> Table:
    rows = []
    for ngram in shared.ngrams:
        start = ngram.output[0]
        words = " ".join(texts[0]["words"][start : start + ngram.n])
        times = _listed(len(starts) for starts in ngram.references)
        rows.append((str(ngram.n), words, str(len(ngram.output)), times))
    counts = Counter(ngram.n for ngram in shared.ngrams)
    totals = ", ".join(f"n = {n}: {counts[n]:,}" for n in range(1, shared.longest + 1))
    head = ("n", "n-gram", "times in the output", "times in each reference")
    return table(head, rows, title=f"Shared n-grams ({totals})")


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class LcsAlignment:
    """Two texts and the alignment of their words.

    `pairs` are indices of words, ascending on both sides. Raises `ValueError` if a pair is out of
    range or does not ascend.
    """

    title: str
    output: MarkedText
    reference: MarkedText
    pairs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        left, right = -1, -1
        for mine, theirs in self.pairs:
            ascends = left < mine and right < theirs
            within = mine < len(self.output.words) and theirs < len(self.reference.words)
            if not (ascends and within):
                raise ValueError(f"the pair {(mine, theirs)} after {(left, right)} aligns no words")
            left, right = mine, theirs

    @property
    def precision(self) -> float:
        """Share of the output's words that are aligned; NaN if it has no words."""
        return _share(len(self.pairs), len(self.output.words))

    @property
    def recall(self) -> float:
        """Share of the reference's words that are aligned; NaN if it has no words."""
        return _share(len(self.pairs), len(self.reference.words))

    @property
    def f_measure(self) -> float:
        """The harmonic mean of precision and recall; NaN if neither text has words."""
        return _share(2 * len(self.pairs), len(self.output.words) + len(self.reference.words))


def alignment_page(alignment: LcsAlignment) -> str:
    """Return a page with links between aligned words; pointing at a word shows its partner."""
    words = [marked_json(text) for text in (alignment.output, alignment.reference)]
    sizes = [len(text.words) for text in (alignment.output, alignment.reference)]
    output, reference = (text["words"] for text in words)
    precision, recall, f_measure = (
        measured(value) for value in (alignment.precision, alignment.recall, alignment.f_measure)
    )
    rows = [
        (str(left + 1), output[left], str(right + 1), reference[right])
        for left, right in alignment.pairs
    ]
    return make_page(
        alignment.title,
        summary=(
            f"ROUGE-L: precision {precision}, recall {recall}, F {f_measure}",
            f"{len(alignment.pairs):,} words aligned: output {sizes[0]:,}, reference {sizes[1]:,}",
        ),
        drawing="alignment",
        data={"output": words[0], "reference": words[1], "pairs": alignment.pairs},
        table=table(
            ("word of the output", "output", "word of the reference", "reference"),
            rows,
            title="Aligned words",
        ),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
