"""The texts that results are about: results do not hold them, so they are read from the data."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from spanjury.adapters.files.results.result_rows import ResultRow, read_results
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import Segment


@dataclass(slots=True)
class JudgedTexts:
    """The texts of results, found by their ids.

    Rows of results come in the order of their data, mostly: then one text is held at a time. Once a
    row does not, or its text is not there, all are.

    A text that is not there any more is none, and so is one in which something does not stand where
    a row has found it: `missing` holds their ids. Only quotes tell that a text has changed.

    Parameters
    ----------
    read
        Reads the data from the start, in the order in which they were judged.
    """

    read: Callable[[], Iterator[Segment]]
    _: KW_ONLY
    missing: set[str] = field(default_factory=set)
    _ahead: Iterator[Segment] | None = None
    _here: Segment | None = None
    _all: Mapping[str, Segment] | None = None

    def headers(self) -> tuple[str, ...]:
        """Return the headers of all inputs, in the order in which they are seen first."""
        return tuple(dict.fromkeys(header for segment in self.read() for header in segment.inputs))

    def of(self, row: ResultRow) -> Segment | None:
        """Return the text that `row` is about; None if it is not there as it was judged."""
        segment = self._find(row.id)
        if segment is not None and row.id not in self.missing and _fits(segment, row):
            return segment
        self.missing.add(row.id)
        return None

    def _find(self, name: str) -> Segment | None:
        if self._all is not None:
            return self._all.get(name)
        if self._here is not None and self._here.segment_id == name:
            return self._here
        if self._ahead is None:
            self._ahead = self.read()
        for segment in self._ahead:
            if segment.segment_id == name:
                self._here = segment
                return segment
        self._all = {segment.segment_id: segment for segment in self.read()}
        return self._all.get(name)


def _fits(segment: Segment, row: ResultRow) -> bool:
    """Say whether all that `row` quotes stands in the text where it says."""
    return segment.system == row.system and all(
        span.start is None or segment.output[span.start : span.end] == span.text
        for span in row.spans
    )


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns of a table that hold texts, if any: output, each input, references as JSON."""

    texts: JudgedTexts | None
    headers: tuple[str, ...]

    @classmethod
    def of(cls, texts: JudgedTexts | None) -> "TextColumns":
        """Return the columns for the data of `texts`, which are read once; none for None."""
        return cls(texts, texts.headers() if texts is not None else ())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        if self.texts is None:
            return ()
        return ("output", *(f"input.{header}" for header in self.headers), "references")

    def cells(self, row: ResultRow) -> tuple[str | None, ...]:
        """Return the cells of a record; empty ones for a text that is not there any more."""
        if self.texts is None:
            return ()
        segment = self.texts.of(row)
        if segment is None:
            return (None,) * len(self.names)
        references = segment.references
        written = json.dumps(references, ensure_ascii=False) if references else None
        cells = (segment.output, *map(segment.inputs.get, self.headers), written)
        return tuple(cell and without_lone_surrogates(cell) for cell in cells)


def lines_with_texts(results: Path, texts: JudgedTexts) -> Iterator[bytes]:
    """Yield the lines of `results`, each with ``output``, ``inputs`` and ``references``.

    They are null for a text that is not there any more. Raises `DataError` as `read_results` does.
    """
    for line, row in read_results(results, ResultRow):
        segment = texts.of(row)
        added: dict[str, object] = {"output": None, "inputs": None, "references": None}
        if segment is not None:
            added["output"] = segment.output
            added["inputs"] = dict(segment.inputs)
            added["references"] = segment.references
        more = without_lone_surrogates(json.dumps(added, ensure_ascii=False))
        yield line.rstrip().removesuffix(b"}") + f", {more.removeprefix('{')}\n".encode()
