"""Tasks, and the aspects of quality that have a meaning within them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.passages import passages_together, unnumbered
from spanjury.judges.core.scale import Scale
from spanjury.judges.core.segment import Segment

NOT_IN_KEYS: Mapping[str, bool] = MappingProxyType({"in_keys": False})
"""Metadata of a field that no answer depends on, once the inputs are as it says."""

Kind = Literal["grounding", "form", "content", "structure", "appeal", "action"]
"""Question that an aspect asks: is it supported by the inputs; is it well formed sentence by
sentence; does it say the right things; does it hang together; does it please a reader; does an
agent act rightly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Task that the judged texts were generated for.

    Parameters
    ----------
    name
        The name it is asked for by.
    description
        One sentence for a judge: what a system was given and what it had to write.
    output_header
        What the judged text is called, as ``"Summary"``.
    input_headers
        Canonical header of each input -> the names that rows give it (any case).
        The first header is given to an input that comes as a plain string.
    whole
        Canonical headers of inputs that are one text even where a list comes under a header that
        names passages in other tasks, as the turns of a dialogue under ``Context``.
    aliases
        Other names of the task.
    default_aspects
        The aspects judged when none is asked for.
    """

    name: str
    description: str
    output_header: str = "Output"
    input_headers: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({"Input": ()})
    )
    whole: tuple[str, ...] = field(default=(), metadata=NOT_IN_KEYS)
    aliases: tuple[str, ...] = ()
    default_aspects: tuple[str, ...] = ()

    def canonical_header(self, header: str) -> str | None:
        """Return the task's own name for an input `header`, or None if it knows none.

        A passage, as ``Context [2]``, is called as the list that it is of.
        """
        headers, spelt = _HEADERS.of(self), _spelt(header)
        if spelt not in headers and spelt.endswith("]"):
            spelt = _spelt(unnumbered(header.strip()))
        return headers.get(spelt)

    def fit(self, segment: Segment) -> Segment:
        """Return `segment` with those inputs in one piece that are one text to the task."""
        if not self.whole:
            return segment
        inputs = passages_together(
            segment.inputs, whole=lambda header: self.canonical_header(header) in self.whole
        )
        return segment if inputs is segment.inputs else replace(segment, inputs=inputs)


def _spelt(header: str) -> str:
    return header.strip().replace("_", " ").casefold()


def _headers(task: Task) -> dict[str, str]:
    """Return every folded name of an input of `task` with the canonical one."""
    canonicals: dict[str, str] = {}
    for canonical, names in task.input_headers.items():
        for name in (canonical, *names):
            canonicals.setdefault(name.casefold(), canonical)
    return canonicals


_HEADERS = IdentityCache[Task, dict[str, str]](_headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One quality of a text; the same word in another task is another aspect.

    Parameters
    ----------
    name
        The name it is asked for by, unique within its task.
    task
        The task that gives it its meaning.
    definition
        What is judged, in one or two sentences.
    kind
        What it asks about; offline judges decide by it whether they can judge.
    confusable
        Other aspects that a judge should not mix it up with, in words.
    worst, best
        What a text of the lowest and of the highest score is like.
    inputs
        Canonical headers of the inputs it may look at; None for all, empty for none.
    needs
        Canonical headers of the inputs without which it cannot be judged.
    scale
        The scale of its scores.
    criteria
        Of a rubric, the aspects that its score is the weighted mean of; empty for an aspect that a
        judge reads the text for.
    rubric
        Of a criterion, the name of the rubric through which it counts; empty for none.
    """

    name: str
    task: Task
    definition: str
    kind: Kind
    confusable: tuple[str, ...] = ()
    worst: str = ""
    best: str = ""
    inputs: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    scale: Scale = Scale()
    criteria: tuple["Criterion", ...] = field(default=(), metadata=NOT_IN_KEYS)
    rubric: str = field(default="", metadata=NOT_IN_KEYS)

    @property
    def spoken(self) -> str:
        """The name as a sentence has it: blanks for hyphens, a criterion in quotation marks."""
        _, _, stated = self.name.partition(": ")
        return f'"{stated}"' if stated else self.name.replace("-", " ")

    def view(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Return the part of `inputs` that the aspect may look at, in order.

        An input whose header the task does not know is hidden only from an aspect that
        looks at none: hiding a source by accident is worse than showing too much.
        """
        if self.inputs is None:
            return dict(inputs)
        if not self.inputs:
            return {}
        allowed = {None, *self.inputs}
        return {
            header: text
            for header, text in inputs.items()
            if self.task.canonical_header(header) in allowed
        }

    def lacking(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        """Return the headers that the aspect needs and `inputs` has no text for.

        An input whose header the task does not know may be what is needed, so nothing is
        lacking where there is one.
        """
        headers = {
            self.task.canonical_header(header) for header, text in inputs.items() if text.strip()
        }
        return () if None in headers else tuple(need for need in self.needs if need not in headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A criterion of a rubric.

    Parameters
    ----------
    aspect
        What a judge reads the text for; on a scale of two labels it is met or not, on a longer one
        it is graded.
    weight
        Its share of the rubric's score, beside the weights of the others; positive.
    must
        Whether the text is faulty without it.
    """

    aspect: Aspect
    weight: float = 1.0
    must: bool = False

    @property
    def is_graded(self) -> bool:
        """True if it is met by degrees."""
        return len(self.aspect.scale.labels) > 2  # noqa: PLR2004  met, or not
