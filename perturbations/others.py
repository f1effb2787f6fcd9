"""The outputs of a task that were written for other inputs, from which a rule may draw.

They are stored once for the whole task. A rule that needs any of them calls `unlike`, whose
cost in Python does not depend on their number.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Segment

T = TypeVar("T", bound=Hashable)
_Codes = NDArray[np.intp]
_UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Task:
    """The outputs of a task, with codes of their texts and inputs, and whether each has words.

    `text_codes` maps a text to its code.
    """

    outputs: NDArray[np.object_]
    text_codes: Mapping[str, int]
    texts: _Codes
    inputs: _Codes
    holds_words: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class OtherTexts(Sequence[str]):
    """The outputs for inputs other than that of one text, in cyclic order from the next one on."""

    task: _Task = field(repr=False)
    _: KW_ONLY
    position: int

    def __len__(self) -> int:
        return int(np.count_nonzero(self._has_other_input()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._at(self._has_other_input()))

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._at(self._has_other_input())[index]

    def unlike(self, text: str) -> Sequence[str]:
        """Return the outputs that contain words and differ from `text`."""
        task = self.task
        same = task.texts == task.text_codes.get(text, _UNKNOWN)
        return self._at(self._has_other_input() & task.holds_words & ~same)

    def _has_other_input(self) -> NDArray[np.bool_]:
        inputs = self.task.inputs
        other: NDArray[np.bool_] = inputs != inputs[self.position]
        return other

    def _at(self, is_wanted: NDArray[np.bool_]) -> Sequence[str]:
        positions = np.flatnonzero(is_wanted)
        first = np.searchsorted(positions, self.position)
        texts: list[str] = self.task.outputs[np.roll(positions, -first)].tolist()
        return texts


def other_texts(segments: Iterable[Segment]) -> Iterator[OtherTexts]:
    """Yield, for each segment, the outputs of its task for other inputs."""
    by_task: defaultdict[str, list[Segment]] = defaultdict(list)
    positions = []
    for segment in segments:
        of_task = by_task[segment.task]
        positions.append((segment.task, len(of_task)))
        of_task.append(segment)
    tasks = {name: _task(of_task) for name, of_task in by_task.items()}
    for name, position in positions:
        yield OtherTexts(tasks[name], position=position)


def _task(segments: Sequence[Segment]) -> _Task:
    outputs = [segment.output for segment in segments]
    text_codes, texts = _coded(outputs)
    _, inputs = _coded([frozenset(segment.inputs.items()) for segment in segments])
    return _Task(
        outputs=np.array(outputs, dtype=np.object_),
        text_codes=text_codes,
        texts=texts,
        inputs=inputs,
        holds_words=np.array([bool(output.strip()) for output in outputs], dtype=np.bool_),
    )


def _coded(items: Sequence[T]) -> tuple[Mapping[T, int], _Codes]:
    """Return item -> its number, counted from 0, and the number of each item."""
    numbers: dict[T, int] = {}
    codes = [numbers.setdefault(item, len(numbers)) for item in items]
    return numbers, np.array(codes, dtype=np.intp)
