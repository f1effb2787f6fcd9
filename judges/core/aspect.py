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
"""Metadata of a field that no answer depends on, beyond its effect on the inputs."""

Kind = Literal["grounding", "form", "content", "structure", "appeal", "action"]
"""Question that an aspect asks: whether the inputs support the text (grounding), whether each
sentence is well formed (form), whether it says the right content (content), whether it is coherent
(structure), whether it pleases a reader (appeal), and whether an agent acts correctly (action)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Task that the judged texts were generated for.

    Parameters
    ----------
    name
        The name that users and requests give.
    description
        One sentence for a judge: what a system was given and what it had to write.
    output_header
        Name of the judged text, such as ``"Summary"``.
    input_headers
        Canonical header of each input -> its names in rows, in any case. An input that is a plain
        string gets the first header.
    whole
        Canonical headers of inputs that are one text even if they are a list under a header that
        names passages in other tasks, such as the turns of a dialogue under ``Context``.
    questions
        Canonical headers of inputs that ask for something, so that they do not support the text.
    aliases
        Other names of the task.
    default_aspects
        The aspects that are judged if a request names none.
    """

    name: str
    description: str
    output_header: str = "Output"
    input_headers: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({"Input": ()})
    )
    whole: tuple[str, ...] = field(default=(), metadata=NOT_IN_KEYS)
    questions: tuple[str, ...] = field(default=(), metadata=NOT_IN_KEYS)
    aliases: tuple[str, ...] = ()
    default_aspects: tuple[str, ...] = ()

    def canonical_header(self, header: str) -> str | None:
        """Return the task's own name for an input `header`, or None if the task has no such input.

        A passage such as ``Context [2]`` has the name of its list.
        """
        headers, spelt = _HEADERS.of(self), _spelt(header)
        if spelt not in headers and spelt.endswith("]"):
            spelt = _spelt(unnumbered(header.strip()))
        return headers.get(spelt)

    def fit(self, segment: Segment) -> Segment:
        """Return `segment` with the passages of each input in `whole` joined into one text."""
        if not self.whole:
            return segment
        inputs = passages_together(
            segment.inputs, whole=lambda header: self.canonical_header(header) in self.whole
        )
        return segment if inputs is segment.inputs else replace(segment, inputs=inputs)


def _spelt(header: str) -> str:
    return header.strip().replace("_", " ").casefold()


def _headers(task: Task) -> dict[str, str]:
    """Map every case-folded name of an input of `task` to its canonical header."""
    canonicals: dict[str, str] = {}
    for canonical, names in task.input_headers.items():
        for name in (canonical, *names):
            canonicals.setdefault(name.casefold(), canonical)
    return canonicals


_HEADERS = IdentityCache[Task, dict[str, str]](_headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One quality of a text; an aspect of the same name in another task is another aspect.

    Parameters
    ----------
    name
        The name that users and requests give, unique within its task.
    task
        The task in which the aspect has its meaning.
    definition
        What is judged, in one or two sentences.
    kind
        The question it asks; offline judges use it to decide whether they can judge the aspect.
    confusable
        Descriptions of other aspects that a judge should not confuse with this one.
    worst, best
        Descriptions of a text with the lowest and with the highest score.
    inputs
        Canonical headers of the inputs that a judge may read; None for all, empty for no input.
    needs
        Canonical headers of the inputs without which the aspect cannot be judged.
    scale
        The scale of its scores.
    of_answers
        Whether only an agent's final answer shows the quality, so that calls which have not been
        carried out yet are not judged on it.
    criteria
        For a rubric, the criteria whose weighted mean is its score; empty for an aspect that a
        judge evaluates directly.
    rubric
        For a criterion, the name of its rubric; otherwise empty.
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
    of_answers: bool = field(default=False, metadata=NOT_IN_KEYS)
    criteria: tuple["Criterion", ...] = field(default=(), metadata=NOT_IN_KEYS)
    rubric: str = field(default="", metadata=NOT_IN_KEYS)

    @property
    def spoken(self) -> str:
        """Name as it appears in a sentence: spaces for hyphens, a criterion in quotation marks."""
        _, _, criterion = self.name.partition(": ")
        return f'"{criterion}"' if criterion else self.name.replace("-", " ")

    def view(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Return the `inputs` that a judge of this aspect may read, in order.

        An input with a header unknown to the task is hidden only if the aspect reads no inputs:
        hiding a source by accident is worse than showing too much.
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

    def evidence(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Return the `inputs` that a judge of this aspect may read, without the questions.

        A text is not supported by the question that it answers.
        """
        questions = self.task.questions
        return {
            header: text
            for header, text in self.view(inputs).items()
            if not questions or self.task.canonical_header(header) not in questions
        }

    def lacking(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        """Return the headers that the aspect needs and for which `inputs` has no text.

        Nothing counts as lacking if an input has a header unknown to the task, because that input
        may be the one that is needed.
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
        The aspect that a judge evaluates. On a scale of two labels the criterion is met or not; on
        a longer scale it is graded.
    weight
        Positive weight of the criterion in the rubric's score, relative to the other weights.
    must
        Whether a text that does not meet it is faulty.
    """

    aspect: Aspect
    weight: float = 1.0
    must: bool = False

    @property
    def is_graded(self) -> bool:
        """True if the criterion is met by degrees."""
        return len(self.aspect.scale.labels) > 2  # noqa: PLR2004  met, or not
