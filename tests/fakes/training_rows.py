"""Rows for training sets."""

from collections.abc import Sequence
from functools import cache

from spanjury.judges.core import Aspect, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.judging.exam_texts import DEMO
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.services.training import distil as distilling
from spanjury.orchestration.studies.distillation.damage import Harm
from spanjury.orchestration.studies.distillation.targets import DataFile, Row, rows_of
from spanjury.perturbations.recipe import find_recipe


def text(name: str, source: str, output: str = "A text.", **fields: object) -> Segment:
    """Return an output for one input."""
    given = {"task": "summarization", "inputs": {"Article": source} if source else {}, **fields}
    return Segment(segment_id=name, output=output, **given)  # type: ignore[arg-type]


def data_file(segments: Sequence[Segment], name: str = "data") -> DataFile:
    return DataFile(path=f"{name}.jsonl", dataset=name, segments=segments)


def demo_rows(count: int) -> tuple[Row, ...]:
    """Return rows of texts that come with the package."""
    return rows_of([data_file(tuple(read_segments(DEMO))[:count], "demo")])


def aspects_of(rows: Sequence[Row]) -> dict[str, tuple[Aspect, ...]]:
    """Return all aspects of the tasks of some rows."""
    return {name: _catalogue().aspects(name) for name in {row.segment.task for row in rows}}


@cache
def harms_of(recipe: str) -> tuple[Harm, ...]:
    """Return what a recipe does, by its name."""
    return distilling.harms_of(find_recipe(recipe))


@cache
def _catalogue() -> Catalogue:
    return Catalogue.load()
