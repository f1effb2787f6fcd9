"""Readings: what a model says of the sentences of a text, a batch at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import JudgeError, Likelihoods, WindowReader, WindowReading
from spanjury.judges.reader.windows import SentenceWindow, windows_but_copies

_BATCH = 16  # sentences that are read between two points where the work may be cancelled

_SUPPORTED = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)


class Batch(NamedTuple):
    """Sentences with their readings, and the number of copied ones, which are not read."""

    readings: Sequence[tuple[SentenceWindow, WindowReading]]
    copied: int


def sentence_readings(
    encoder: WindowReader, output: str, inputs: Mapping[str, str]
) -> Iterator[Batch]:
    """Yield the sentences of `output`, in order; the model reads a batch when it is asked for.

    Raises `JudgeError` if the model cannot be loaded or run, or says something of other words.
    """
    windows: list[SentenceWindow] = []
    copied = 0
    for window in windows_but_copies(output, inputs, room=encoder.room):
        if window is None:
            copied += 1
            continue
        windows.append(window)
        if len(windows) == _BATCH:
            yield Batch(_read(encoder, windows), copied)
            windows, copied = [], 0
    yield Batch(_read(encoder, windows), copied)


def _read(
    encoder: WindowReader, windows: Sequence[SentenceWindow]
) -> list[tuple[SentenceWindow, WindowReading]]:
    readings = encoder.read([window.window for window in windows]) if windows else []
    if [len(reading.words) for reading in readings] != [len(window.tokens) for window in windows]:
        raise JudgeError(f"{encoder.signature} gave other readings than it was asked for")
    return [
        (window, _without_copies(reading, window.copied))
        for window, reading in zip(windows, readings, strict=True)
    ]


def _without_copies(reading: WindowReading, copied: Sequence[bool]) -> WindowReading:
    """Return a reading in which copied words are supported.

    A small encoder is least sure where nearly all is copied, and there words can be compared.
    """
    words = tuple(
        _SUPPORTED if is_copy else word for word, is_copy in zip(reading.words, copied, strict=True)
    )
    return WindowReading(words=words, sentence=reading.sentence)
