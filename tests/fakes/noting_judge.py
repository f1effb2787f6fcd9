"""A judge for many processes: it notes what it judged in a folder that all of them see."""

import os
from dataclasses import dataclass
from pathlib import Path

import anyio

from spanjury.judges.core import Aspect, Report, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class NotingJudge:
    """Scores 1 to 5 by the length of the text, slowly.

    Parameters
    ----------
    notes
        Where each process has a file with the ids that it judged, one a line.
    seconds
        How long it takes over a text.
    together
        How many processes must have begun before any of them goes on.
    """

    signature = "noting"
    notes: Path
    seconds: float = 0.0
    together: int = 1

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        note = self.notes / str(os.getpid())
        note.touch()
        # No event reaches another process.
        while len(list(self.notes.iterdir())) < self.together:  # noqa: ASYNC110
            await anyio.sleep(0.05)
        await anyio.sleep(self.seconds)
        with note.open("a") as file:
            file.write(f"{segment.segment_id}\n")
        return Report(score=1 + len(segment.output) % 5)

    def judged(self) -> list[str]:
        """Return the ids that were judged, by whomever."""
        return [name for note in sorted(self.notes.iterdir()) for name in note.read_text().split()]
