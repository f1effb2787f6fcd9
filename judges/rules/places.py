"""Map offsets in the joined source back to the inputs."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Evidence

_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The inputs of a segment as one text.

    Parameters
    ----------
    text
        All inputs, separated by empty lines.
    headers
        Their names, in order.
    starts
        Offset at which each begins in `text`.
    """

    text: str
    headers: Sequence[str]
    starts: Sequence[int]

    @property
    def _ends(self) -> Sequence[int]:
        return (*(start - len(_BETWEEN) for start in self.starts[1:]), len(self.text))

    @property
    def inputs(self) -> Mapping[str, str]:
        """The inputs, header -> text."""
        texts = map(slice, self.starts, self._ends)
        return {header: self.text[part] for header, part in zip(self.headers, texts, strict=True)}

    def evidence(self, start: int, end: int) -> Evidence:
        """Return the passage ``text[start:end]``, up to the end of its input, as evidence."""
        at = bisect_right(self.starts, start) - 1
        offset, end = self.starts[at], min(end, self._ends[at])
        return Evidence(
            input=self.headers[at],
            start=start - offset,
            end=end - offset,
            text=self.text[start:end],
        )


def join_inputs(inputs: Mapping[str, str]) -> Source:
    """Join `inputs`, header -> text, in order."""
    starts: list[int] = []
    length = 0
    for text in inputs.values():
        starts.append(length)
        length += len(text) + len(_BETWEEN)
    return Source(text=_BETWEEN.join(inputs.values()), headers=[*inputs], starts=starts)
