"""Fences: judged texts set apart, so that nothing in them passes for an instruction."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from spanjury.judges.core import fingerprint

__all__ = ["Fenced", "fence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """Texts under their headers, each between two lines that begin with its mark.

    Parameters
    ----------
    text
        All of them, one after the other.
    marks
        One for each text; none of the texts contains any of them.
    """

    text: str
    marks: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The marks as a sentence names them."""
        return " or ".join(self.marks)


def fence(texts: Mapping[str, str]) -> Fenced:
    """Set each text of `texts` apart under its header.

    A mark is a digest of its own text, so it is the same on every run and whatever else
    stands in the prompt: a server that keeps the beginning of prompts can keep a source.
    If a text holds a mark, forged or by chance, all marks are replaced.
    """
    marks = next(marks for turn in count() if not _forged(marks := _marks(turn, texts), texts))
    blocks = (
        f"{mark} {header}: begin\n{text}\n{mark} {header}: end"
        for mark, (header, text) in zip(marks, texts.items(), strict=True)
    )
    return Fenced(text="\n\n".join(blocks), marks=marks)


def _marks(turn: int, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"[{fingerprint(str(turn), header, text)}]" for header, text in texts.items())


def _forged(marks: tuple[str, ...], texts: Mapping[str, str]) -> bool:
    return any(mark in text for mark in marks for text in texts.values())
