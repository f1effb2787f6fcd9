"""A page of a longest common subsequence: aligned words, and ROUGE-L's three numbers."""

from dataclasses import dataclass

from spanjury.orchestration.report.drawings.drawing import (
    MarkedText,
    Table,
    make_page,
    marked_json,
    measured,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LcsAlignment:
    """Two texts and which of their words are aligned.

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
        """Aligned words among those of the output; NaN if it has none."""
        return _share(len(self.pairs), len(self.output.words))

    @property
    def recall(self) -> float:
        """Aligned words among those of the reference; NaN if it has none."""
        return _share(len(self.pairs), len(self.reference.words))

    @property
    def f_measure(self) -> float:
        """The harmonic mean of both; NaN if neither text has a word."""
        return _share(2 * len(self.pairs), len(self.output.words) + len(self.reference.words))


def alignment_page(alignment: LcsAlignment) -> str:
    """Return a page on which aligned words are linked; a word that is pointed at shows its own."""
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
        table=Table(
            caption="Aligned words",
            head=("word of the output", "output", "word of the reference", "reference"),
            rows=rows,
        ),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
