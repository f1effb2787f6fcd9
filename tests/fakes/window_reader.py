"""A window reader whose likelihoods a test sets word by word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spanjury.judges.core import ROOM, Likelihoods, Window, WindowReader, WindowReading

SUPPORTED = Likelihoods(supported=0.99, contradicted=0.005, absent=0.005)


def contradicted(probability: float) -> Likelihoods:
    return Likelihoods(supported=1 - probability, contradicted=probability, absent=0.0)


def absent(probability: float) -> Likelihoods:
    return Likelihoods(supported=1 - probability, contradicted=0.0, absent=probability)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeWindowReader(WindowReader):
    """Says of each word what `words` has; a sentence is as bad as its worst word."""

    signature = "fake"
    words: Mapping[str, Likelihoods] = field(default_factory=dict)
    read_windows: list[Window] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    @property
    def room(self) -> int:
        return ROOM

    def read(self, windows: Sequence[Window]) -> list[WindowReading]:
        self.read_windows.extend(windows)
        self.calls.append(len(windows))
        return [self._reading(window) for window in windows]

    def _reading(self, window: Window) -> WindowReading:
        words = tuple(self.words.get(word, SUPPORTED) for word in window.words)
        return WindowReading(words=words, sentence=min(words, key=lambda word: word.supported))
