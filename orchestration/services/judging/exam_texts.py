"""The texts of an exam: a file, or texts in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Segment
from spanjury.judges.text.sentences import sentences
from spanjury.orchestration.services.judging.job import check_limit
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.wiring.sources import open_rows, readable

FLAWS, AGENTS = "flaws", "agents"
"""Recipes that plant errors in texts and in trajectories."""
DEMO = Path(str(files("spanjury.perturbations").joinpath("demo", "summarization.jsonl")))
"""Texts that are shipped with the package."""
TWINS = DEMO.with_name("twins.jsonl")
"""Texts that are shipped with the package, each with a wrong version that was written with it."""
TRAJECTORIES = DEMO.with_name("trajectories.jsonl")
"""Trajectories that are shipped with the package, with and without errors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Texts:
    """Texts in memory, used in place of the file of an exam.

    The ids of segments are distinct; reports and records show `name`.
    """

    segments: tuple[Segment, ...]
    name: str = "texts from Python"

    def __str__(self) -> str:
        return self.name


def clean_trajectories() -> Texts:
    """Return the trajectories of `TRAJECTORIES` that have no error."""
    rows = read_segments(TRAJECTORIES)
    return Texts(
        segments=tuple(row for row in rows if row.meta["label"] == "clean"),
        name="trajectories that come with spanjury",
    )


def demo_for(recipe: object) -> Path | Texts:
    """Return the shipped texts for a recipe: trajectories for the recipe of agents."""
    return clean_trajectories() if recipe == AGENTS else DEMO


def damage_for(segments: Sequence[Segment]) -> str:
    """Return the default recipe that plants errors in `segments`."""
    return AGENTS if any(segment.trajectory for segment in segments) else FLAWS


def rivals() -> Texts:
    """Return texts of four systems about the articles of `TWINS`, scored by construction.

    The system ``right`` has the right version and ``wrong`` the wrong one. ``right-long`` and
    ``wrong-long`` append the last sentence of the article, which makes a text neither more nor less
    consistent: these two are longer but no better.
    """
    by_source: dict[str, Segment] = {}
    for twin in read_segments(TWINS):
        if twin.meta["genre"] == "news article":
            by_source.setdefault(str(twin.meta["group"]), twin)
    return Texts(
        segments=tuple(
            segment for name, twin in by_source.items() for segment in _rivals_of(twin, name)
        ),
        name="texts that come with spanjury",
    )


def _rivals_of(twin: Segment, source: str) -> Iterator[Segment]:
    (article,) = twin.inputs.values()
    last = sentences(article)[-1].text
    outputs = {"right": (twin.output, 5.0), "wrong": (str(twin.meta["wrong"]), 1.0)}
    for system, (output, score) in outputs.items():
        for name, text in ((system, output), (f"{system}-long", f"{output} {last}")):
            yield Segment(
                segment_id=f"{source}/{name}",
                output=text,
                inputs=twin.inputs,
                task=twin.task,
                system=name,
                human={"consistency": {"": score}},
            )


def texts_of(
    data: object, *, columns: Sequence[str] = (), limit: int | None = None
) -> Path | Texts:
    """Return a file of texts as its path, and data in memory as `Texts`.

    `data` is a path, rows, segments, a data frame of pandas or polars, or texts; `columns` are as
    in `read_segments`.

    Raise `ConfigError` if `data` has none of these forms or `limit` is no number of rows, and
    `DataError` if there is no row, or one cannot be read.
    """
    check_limit(limit)
    if isinstance(data, Texts):
        return data
    if isinstance(data, Path | str):
        return Path(data)
    rows = islice(open_rows(data, columns=columns), limit)
    return Texts(segments=tuple(readable(rows)))


def read_texts(data: Path | Texts, *, columns: Sequence[str] = ()) -> Iterator[Segment]:
    """Yield texts from a file, as `read_segments` does, or from memory."""
    return iter(data.segments) if isinstance(data, Texts) else read_segments(data, columns=columns)
