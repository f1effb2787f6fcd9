"""Details: the texts of some rows, and what was said of them, word for word."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from spanjury.judges.core import Segment
from spanjury.orchestration.services.viewing.aspects import KnownAspects
from spanjury.orchestration.services.viewing.columns import NOTHING
from spanjury.orchestration.services.viewing.reading import Pairing
from spanjury.orchestration.services.viewing.texts import TextStore

_Text = tuple[TextStore, int]


class Unasked(msgspec.Struct, frozen=True):
    """The seats that were not asked about a row, and why."""

    seats: tuple[str, ...] = ()
    reason: str = ""


class _UnaskedOfRow(msgspec.Struct, frozen=True):
    """The only part of a row that is read here."""

    unasked: Unasked | None = None


_UNASKED = msgspec.json.Decoder(_UnaskedOfRow)


class Details:
    """The details of the rows of a view."""

    def __init__(self, pairing: Pairing, aspects: KnownAspects) -> None:
        self._pairing = pairing
        self._aspects = aspects

    def of(
        self, numbers: Sequence[int], *, is_hidden: Callable[[int], bool] = lambda _: False
    ) -> dict[str, object]:
        """Return the details of some rows, for JSON; rows of one text share it.

        Raise `DataError` if results were written again since they were read.

        Parameters
        ----------
        is_hidden
            Says of a row whether its results, and other people's marks, are kept from the reader.
        """
        texts: dict[tuple[int, int, str, bool], int] = {}
        written: list[dict[str, object]] = []
        rows = []
        for number in numbers:
            task, aspect = self.aspect(number)
            index, hidden = None, is_hidden(number)
            if (text := self._pairing.text(number)) is not None:
                key = id(text[0]), text[1], task, hidden
                if key not in texts:
                    texts[key] = len(written)
                    written.append(self._text(text, task=task, is_hidden=hidden))
                index = texts[key]
            run, row = self._pairing.row_of(number)
            rows.append(
                {
                    "number": number,
                    "id": run.columns.ids[row],
                    "system": run.columns.names.systems.values[run.columns.systems[row]],
                    "task": task,
                    "aspect": aspect,
                    "text": index,
                    "results": list(self._results(number, is_hidden=hidden)),
                }
            )
        return {"texts": written, "rows": rows}

    def aspect(self, number: int) -> tuple[str, str]:
        """Return the task and the aspect of a row, by name."""
        run, row = self._pairing.row_of(number)
        return run.columns.names.aspects.values[run.columns.aspects[row]]

    def segment(self, number: int) -> Segment | None:
        """Return the text of a row as its judges saw it; None if it is not there."""
        text = self._pairing.text(number)
        return None if text is None else self._fitted(text, task=self.aspect(number)[0])

    def unasked(self, number: int, *, run: int) -> Unasked | None:
        """Return which seats a run did not ask about a row, and why; None if it asked all."""
        row = self._pairing.rows[run][number]
        if row == NOTHING:
            return None
        return _UNASKED.decode(self._pairing.runs[run].line(row)).unasked

    def _fitted(self, text: _Text, *, task: str) -> Segment:
        store, number = text
        segment = store.segment(number)
        declared = self._aspects.task(task)
        return segment if declared is None else declared.fit(segment)

    def _text(self, text: _Text, *, task: str, is_hidden: bool) -> dict[str, object]:
        segment = self._fitted(text, task=task)
        scores = {} if is_hidden else segment.human
        return {
            "id": segment.segment_id,
            "system": segment.system,
            "output": segment.output,
            "inputs": dict(segment.inputs),
            "references": list(segment.references),
            "human": {name: dict(by_rater) for name, by_rater in scores.items()},
            "gold": [] if is_hidden else text[0].gold(text[1]),
        }

    def _results(self, number: int, *, is_hidden: bool) -> Iterator[msgspec.Raw | None]:
        for run, rows in zip(self._pairing.runs, self._pairing.rows, strict=True):
            row = rows[number]
            there = row != NOTHING and not is_hidden
            yield msgspec.Raw(run.line(row).rstrip(b"\n")) if there else None
