"""Texts of a run by id and by output, to find the one that a row of another file is of."""

from collections import defaultdict
from collections.abc import Iterable

from spanjury.judges.core import Segment
from spanjury.orchestration.services.marks.marked_run import MarkedText
from spanjury.orchestration.wiring.marks import SEGMENT_ID


class TextIndex:
    """The texts of a run."""

    def __init__(self, texts: Iterable[MarkedText]) -> None:
        self._by_id: dict[str, MarkedText] = {}
        self._by_output: defaultdict[str, list[MarkedText]] = defaultdict(list)
        for text in texts:
            self._by_id[text.segment.segment_id] = text
            self._by_output[text.segment.output].append(text)

    def find(self, row: Segment) -> MarkedText | str:
        """Return the text that `row` is of: by its id, or else the only one with its output.

        A row whose text is not found gives the reason.
        """
        names = (row.meta.get(SEGMENT_ID), row.segment_id, row.meta.get("seg_id"))
        for name in filter(None, names):
            text = self._by_id.get(str(name))
            if text is not None and text.segment.output == row.output:
                return text
        if not {*names[:2]}.isdisjoint(self._by_id):
            return "the run has another text under this id"
        texts = self._by_output[row.output]
        of_system = [text for text in texts if text.segment.system == row.system]
        texts = of_system or texts
        if len(texts) == 1:
            return texts[0]
        problem = (
            f"{len(texts)} texts of the run read like this" if texts else "the run has no such text"
        )
        return f"{problem}, and none has this id"
