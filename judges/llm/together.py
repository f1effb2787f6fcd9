"""The judge `together`: a language model that judges several aspects of a text in one call.

The texts are sent once for all aspects, whereas `annotator` sends them once for each. Each problem
is listed under its aspect; each aspect has its own verdict and score. A call covers the named
aspects that read the same inputs: a model that is to judge fluency alone must not see the source.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from functools import lru_cache
from types import GenericAlias
from typing import Annotated, Literal

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ConfigError,
    Decoding,
    ErrorSpan,
    Message,
    Outcome,
    Reasoning,
    Report,
    Segment,
    Usage,
    fingerprint,
    gravest,
    signature,
    thought_tokens,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import searched_first
from spanjury.judges.llm.answer_tokens import RIVALS, field_tokens
from spanjury.judges.llm.asking import AskedOnce
from spanjury.judges.llm.grades import read_grade
from spanjury.judges.llm.parse import located_errors
from spanjury.judges.llm.parsed import ParsedError
from spanjury.judges.llm.prompt import described_task, everything, shown_message, texts_in_context
from spanjury.judges.llm.typed_reply import TypedReply, ask_for
from spanjury.judges.llm.verdict import YES, share_of_yes, with_undisclosed
from spanjury.judges.llm.wording import fill_template, read_template
from spanjury.judges.tasks import Catalogue, describe
from spanjury.judges.text import fence

with lazily():
    import pydantic

_TEMPLATES = ("system.txt", "together.txt", "severity-numeric.txt")
_HELD = 256  # replies kept for other aspects of the same text


# The docstrings of this class and the next two are part of the JSON schema that the model sees.
@dataclass(frozen=True, slots=True, kw_only=True)
class AspectProblem:
    """A problem that a model lists under an aspect."""

    aspect: str
    location: str
    explanation: str
    severity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectVerdict:
    """A model's verdict on an aspect; what decides comes last."""

    aspect: str
    explanation: str
    faulty: Literal["yes", "no"]
    score: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JointReview:
    """A model's review of a text under several aspects."""

    problems: list[AspectProblem]
    verdicts: list[AspectVerdict]


@lru_cache(maxsize=64)
def _review_of(names: tuple[str, ...]) -> type[JointReview]:
    """Return a type of reviews whose schema, unlike its validation, allows these names alone."""
    named = Annotated[str, pydantic.Field(json_schema_extra={"enum": list(names)})]
    problem, verdict = (
        make_dataclass(
            base.__name__,
            [("aspect", named)],
            bases=(base,),
            namespace={"__doc__": base.__doc__},
            frozen=True,
            kw_only=True,
        )
        for base in (AspectProblem, AspectVerdict)
    )
    return make_dataclass(
        JointReview.__name__,
        [
            ("problems", GenericAlias(list, (problem,))),
            ("verdicts", GenericAlias(list, (verdict,))),
        ],
        bases=(JointReview,),
        namespace={"__doc__": JointReview.__doc__},
        frozen=True,
        kw_only=True,
    )


@dataclass(slots=True, kw_only=True)
class _Review:
    """A reply, and the names of the aspects that have a report from it."""

    reply: TypedReply[JointReview]
    reported: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherJudge:
    """Ask a model about several aspects of a text in one call.

    An aspect that is not among the `aspects`, or reads other inputs than they do, has a call of
    its own. The joint call is made and counted for the aspect that comes first.

    Parameters
    ----------
    aspects
        Names of the aspects, joined by ``+``; each task uses those that it has. No default.
    max_errors
        Maximum number of errors in a report.
    temperature, seed, max_tokens
        Decoding parameters; `max_tokens`, for each aspect, is doubled once for a reply that broke
        off.
    reasoning
        Effort of reasoning before the reply, as for the annotator.
    """

    model: ChatModel
    aspects: str = ""
    max_errors: int = 8
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 768
    reasoning: Reasoning | None = None
    _replies: AskedOnce[str, _Review] = field(
        init=False, repr=False, compare=False, default_factory=lambda: AskedOnce(most=_HELD)
    )

    def __post_init__(self) -> None:
        if not self._names:
            raise ValueError("aspects must name what to ask about together: coherence+fluency")
        if self.max_errors < 1:
            raise ValueError(f"max_errors must be positive, got {self.max_errors!r}")
        self._decoding(aspects=1)  # raises for a bad number now

    @property
    def signature(self) -> str:
        """Model, prompts, aspects, decoding, and the code that asks and reads."""
        return signature(
            "together",
            model=self.model.signature,
            prompt=fingerprint(*map(read_template, _TEMPLATES)),
            aspects="+".join(self._names),
            max_errors=self.max_errors,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            code=code_digest(__name__),
            **({} if self.reasoning is None else {"reasoning": self.reasoning}),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the report on `aspect`; raise `ModelError` if the model gives no reply."""
        asked = self._asked_with(aspect)
        shown = (text for item in texts_in_context(segment, aspect).items() for text in item)
        key = digest(*shown, *map(canonical, asked))
        review, is_new = await self._replies.value(key, lambda: self._ask(segment, asked))
        if review.reply.value is None and aspect.name in review.reported:
            # The other aspects share an unusable reply, but this one is assessed again.
            self._replies.forget(key)
            review, is_new = await self._replies.value(key, lambda: self._ask(segment, asked))
        review.reported.add(aspect.name)
        reply = review.reply
        usage = reply.usage if is_new else Usage()
        if reply.value is None:
            return replace(reply.unscored, usage=usage)
        report = _report(reply, reply.value, aspect=aspect, asked=asked, segment=segment)
        spans = gravest(report.spans, limit=self.max_errors)
        return replace(report, spans=spans, reply=reply.text, usage=usage)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.aspects.split("+") if name.strip())

    def _asked_with(self, aspect: Aspect) -> tuple[Aspect, ...]:
        """Return the aspects of the call that covers `aspect`, in the order of their names."""
        task, catalogue = aspect.task.name, Catalogue.load()
        try:
            named = [
                catalogue.aspect(task, name) for name in self._names if catalogue.has(task, name)
            ]
        except ConfigError:  # a task of the user's own
            named = []
        alike = [
            aspect if other.name == aspect.name else other
            for other in named
            if other.inputs == aspect.inputs and other.task == aspect.task
        ]
        return tuple(alike) if aspect in alike else (aspect,)

    async def _ask(self, segment: Segment, aspects: Sequence[Aspect]) -> _Review:
        texts = texts_in_context(segment, aspects[0])
        fenced, task = fence(texts), aspects[0].task
        slots = {
            "task_description": described_task(task, texts),
            "material": fenced.text,
            "mark": fenced.mark,
            "everything": everything(tuple(texts)),
            "output": task.output_header,
            "aspects": "\n\n".join(map(_described, aspects)),
            "severity": read_template("severity-numeric.txt"),
            "max_errors": str(self.max_errors),
        }
        reply = await ask_for(
            _review_of(tuple(aspect.name for aspect in aspects)),
            model=self.model,
            messages=[
                Message(role="system", content=read_template("system.txt")),
                shown_message(fill_template("together.txt", slots), fenced),
            ],
            decoding=self._decoding(aspects=len(aspects)),
            logprobs_near=("faulty",),
        )
        return _Review(reply=reply)

    def _decoding(self, *, aspects: int) -> Decoding:
        return Decoding(
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens * aspects + thought_tokens(self.reasoning),
            logprobs=RIVALS,
            reasoning=self.reasoning,
        )


def _described(aspect: Aspect) -> str:
    """Describe an aspect under its name, with its labels."""
    labels = ", ".join(aspect.scale.labels)
    return f"## {aspect.name}\n{describe(aspect)}\nScore, from worst to best: {labels}"


def _report(
    reply: TypedReply[JointReview],
    review: JointReview,
    *,
    aspect: Aspect,
    asked: Sequence[Aspect],
    segment: Segment,
) -> Report:
    """Return the report of a review on one aspect."""
    tokens = list(field_tokens(reply.logprobs, "faulty", mark=""))
    are_paired = len(tokens) == len(review.verdicts)
    numbers = [n for n, verdict in enumerate(review.verdicts) if _is_about(aspect, verdict.aspect)]
    if not numbers:
        return _unread(f"the reply has no verdict on {aspect.name}")
    number, verdict = numbers[0], review.verdicts[numbers[0]]
    scores = [read_grade(review.verdicts[each].score, scale=aspect.scale).value for each in numbers]
    score, *others = scores
    if score is None:
        return _unread(f"its score for {aspect.name} is not a label of the scale")
    if any(other != score for other in others):
        return _unread(f"the reply gives several scores for {aspect.name}")
    report = Report(
        score=score,
        spans=_spans(review.problems, aspect=aspect, segment=segment),
        rationale=" ".join([verdict.explanation, *_strays(review.problems, asked)]).strip(),
        error_probability=share_of_yes(tokens[number]) if are_paired else None,
    )
    return with_undisclosed(report, output=segment.output) if verdict.faulty == YES else report


def _strays(problems: Sequence[AspectProblem], asked: Sequence[Aspect]) -> Iterator[str]:
    """Yield a remark on each problem that is listed under none of the aspects `asked` about."""
    for problem in problems:
        if not any(_is_about(aspect, problem.aspect) for aspect in asked):
            location = f" at {problem.location!r}" if problem.location else ""
            yield (
                f"(A problem under the unknown name {problem.aspect!r} counts for no aspect:"
                f" {problem.explanation}{location})"
            )


def _spans(
    problems: Sequence[AspectProblem], *, aspect: Aspect, segment: Segment
) -> tuple[ErrorSpan, ...]:
    errors = [
        ParsedError(
            quote=problem.location,
            explanation=problem.explanation,
            severity=problem.severity if 1 <= problem.severity <= 5 else None,  # noqa: PLR2004
        )
        for problem in problems
        if _is_about(aspect, problem.aspect)
    ]
    errors = [error for error in errors if not error.is_empty]
    return located_errors(errors, output=segment.output, first=searched_first(segment, aspect))


def _is_about(aspect: Aspect, name: str) -> bool:
    return _folded(name) in {_folded(aspect.name), _folded(aspect.spoken)}


def _folded(name: str) -> str:
    """Return `name` without case, markup, and the difference of blanks, hyphens, underscores."""
    return " ".join(re.sub(r"[\s\-_*#`:.\"'“”]+", " ", name).split()).casefold()


def _unread(reason: str) -> Report:
    return Report(outcome=Outcome.UNPARSEABLE, reason=reason)
