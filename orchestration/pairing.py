"""Which aspects of which segments are judged."""

from collections.abc import Iterable, Iterator, Sequence

from spanjury.judges.core import Aspect, ConfigError, Segment
from spanjury.judges.tasks import Catalogue

__all__ = ["ALL_ASPECTS", "pair"]

ALL_ASPECTS = "all"
"""Stands for every aspect of a segment's task."""


def pair(
    segments: Iterable[Segment],
    catalogue: Catalogue,
    *,
    task: str | None = None,
    aspects: Sequence[str] = (),
) -> Iterator[tuple[Segment, Aspect]]:
    """Pair each segment with the aspects it is judged on, segment by segment.

    Parameters
    ----------
    segments
        Read as they are needed.
    catalogue
        Knows the tasks and their aspects.
    task
        The task of every segment, whatever its row says; None for the row's own.
    aspects
        Names of aspects; empty for the defaults of the task, ``"all"`` for every one.

    Raises
    ------
    ConfigError
        If a segment has no task, or a task or an aspect is unknown; lists the choices.
    """
    known: dict[str, tuple[Aspect, ...]] = {}
    for segment in segments:
        name = task or segment.task
        if not name:
            choices = ", ".join(task.name for task in catalogue.tasks())
            raise ConfigError(
                f"row {segment.segment_id!r} names no task: name one with --task ({choices})"
            )
        if name not in known:
            known[name] = _asked_for(catalogue, name, aspects)
        for aspect in known[name]:
            yield segment, aspect


def _asked_for(catalogue: Catalogue, task: str, aspects: Sequence[str]) -> tuple[Aspect, ...]:
    if ALL_ASPECTS in aspects:
        return catalogue.aspects(task)
    names = aspects or catalogue.task(task).default_aspects
    found = (catalogue.aspect(task, name) for name in names)
    return tuple({aspect.name: aspect for aspect in found}.values())
