"""An aspect in words, as a prompt describes it to a model."""

from collections.abc import Iterator

from spanjury.judges.core import Aspect

__all__ = ["describe"]


def describe(aspect: Aspect) -> str:
    """Return name, definition, extremes and what `aspect` is mixed up with, line by line."""
    return "\n".join(_lines(aspect))


def _lines(aspect: Aspect) -> Iterator[str]:
    yield f"{aspect.name.replace('-', ' ').capitalize()}: {aspect.definition}"
    if aspect.worst:
        yield f"At worst: {aspect.worst}"
    if aspect.best:
        yield f"At best: {aspect.best}"
    if aspect.confusable:
        yield "Not to be judged here, though easily mixed up with it:"
        yield from (f"- {other}" for other in aspect.confusable)
