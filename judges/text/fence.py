"""Fences: judged texts set apart, so that nothing in them passes for an instruction."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from spanjury.judges.core import fingerprint

__all__ = ["Fenced", "fence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """Texts under their headers, each between two lines that begin with `mark`."""

    text: str
    mark: str


def fence(texts: Mapping[str, str]) -> Fenced:
    """Set each text of `texts` apart under its header.

    The mark is a digest of the texts themselves, so it is the same on every run and no
    text can contain its own; should one do so all the same, another is taken.
    """
    mark = next(
        mark
        for turn in count()
        if not any((mark := _mark(turn, texts)) in text for text in texts.values())
    )
    blocks = [
        f"{mark} {header}: begin\n{text}\n{mark} {header}: end" for header, text in texts.items()
    ]
    return Fenced(text="\n\n".join(blocks), mark=mark)


def _mark(turn: int, texts: Mapping[str, str]) -> str:
    return f"[{fingerprint(str(turn), *texts, *texts.values())}]"
