"""Exhibits: clean texts, damaged each in every way that an exam asks for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from spanjury.judges.core import ChatModel, ErrorSpan, Located, PerturbationError, Segment
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.generation import (
    GenerationFailed,
    GenerationRequest,
    TextGenerator,
    open_generation,
)
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import (
    Case,
    Level,
    NothingToDamageError,
    Perturbation,
    generator_for,
)
from spanjury.perturbations.written import WrittenPerturbation

__all__ = ["Condition", "Exhibit", "LeftOut", "exhibit_of", "exhibits", "written_exhibits"]

_WRONG = "wrong"
"""Key of a segment's meta that holds a text which is known to be wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One way in which every text is damaged.

    Parameters
    ----------
    name
        What it is called in the report, unique in an exam.
    perturbation, options
        The rule that damages, and how much.
    written
        What a model may be asked for in the rule's place, as many times as the option `k`
        says; None where there is the rule only.
    level
        Under which level it counts.
    severity
        1 to 5: how grave the errors are that it makes.
    weights
        Aspect -> how much experts think it is harmed, summing to 1; empty where nobody
        was asked.
    """

    name: str
    perturbation: Perturbation
    level: Level
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    written: WrittenPerturbation | None = None
    severity: int = 3
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A damaged text beside the clean one.

    Parameters
    ----------
    clean, damaged
        The same segment, but for its output; the damaged one has an id of its own, and the
        damage as its gold error spans.
    condition
        Name of what was done.
    damage
        What was done, edit by edit.
    written_by
        Name of the model that did it; empty for a rule.
    """

    clean: Segment
    damaged: Segment
    condition: str
    damage: Damage
    written_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A text that a condition could not damage, and why; `written_by` as in `Exhibit`."""

    segment_id: str
    condition: str
    reason: str
    written_by: str = ""


def exhibits(
    segments: Sequence[Segment], conditions: Sequence[Condition], *, seed: int
) -> Iterator[Exhibit | LeftOut]:
    """Damage every segment in every way by rules; what is done to one depends on no other's turn.

    Parameters
    ----------
    segments
        Clean texts under distinct ids.
    conditions
        Under distinct names.
    seed
        Of all random numbers.

    Yields
    ------
    Exhibit or LeftOut
        Condition by condition, in the order of the segments.

    Raises
    ------
    PerturbationError
        If a rule fails, naming the condition and the segment.
    """
    for condition in conditions:
        for number, segment in enumerate(segments):
            others = tuple(
                other.output
                for other in (*segments[number + 1 :], *segments[:number])
                if other.task == segment.task and other.inputs != segment.inputs
            )
            yield _exhibit(segment, condition, others=others, seed=seed)


def exhibit_of(
    segment: Segment, condition: Condition, *, damage: Damage, written_by: str = ""
) -> Exhibit:
    """Put the damaged text beside `segment`, under an id of its own, its damage as gold spans."""
    damaged = replace(
        segment,
        segment_id=f"{segment.segment_id}#{condition.name}",
        output=damage.text,
        gold=_gold(damage, condition),
    )
    return Exhibit(
        clean=segment,
        damaged=damaged,
        condition=condition.name,
        damage=damage,
        written_by=written_by,
    )


def _exhibit(
    segment: Segment, condition: Condition, *, others: tuple[str, ...], seed: int
) -> Exhibit | LeftOut:
    wrong = segment.meta.get(_WRONG)
    case = Case(
        text=segment.output,
        inputs=segment.inputs,
        others=others,
        wrong=wrong if isinstance(wrong, str) else "",
    )
    rng = generator_for(seed, condition.name, segment.segment_id)
    try:
        damage = condition.perturbation.damage(case, rng, **condition.options)
    except NothingToDamageError as error:
        return LeftOut(segment_id=segment.segment_id, condition=condition.name, reason=str(error))
    except PerturbationError as error:
        raise PerturbationError(
            f"{condition.name} cannot damage {segment.segment_id!r}: {error}"
        ) from error
    return exhibit_of(segment, condition, damage=damage)


def _gold(damage: Damage, condition: Condition) -> tuple[ErrorSpan, ...]:
    """Mark the damage as a judge should; of a deletion the characters beside it are marked."""
    text = damage.text
    spans = []
    for place, edit in zip(damage.places, damage.edits, strict=True):
        start, end = _visible(place, length=len(text))
        was = damage.clean[edit.start : edit.end]
        told = f"{condition.name}: {was!r} was replaced by {edit.text!r}."
        offsets = {"start": start, "end": end, "located": Located.EXACT} if start < end else {}
        spans.append(
            ErrorSpan(
                text=text[start:end],
                explanation=told,
                severity=condition.severity,
                category=condition.perturbation.family,
                **offsets,  # type: ignore[arg-type]  # each of its own type
            )
        )
    return tuple(spans)


def _visible(place: tuple[int, int], *, length: int) -> tuple[int, int]:
    """Widen an empty place by the characters beside it."""
    start, end = place
    return place if start < end else (max(0, start - 1), min(length, end + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A damage that the writer is asked for."""

    segment: Segment
    condition: Condition
    written: WrittenPerturbation
    k: int


async def written_exhibits(
    segments: Sequence[Segment],
    conditions: Sequence[Condition],
    *,
    seed: int,
    writer: TextGenerator,
    stop_token: StopToken,
) -> list[Exhibit | LeftOut]:
    """Damage every segment in every way, by `writer` where it can be asked and else by rules.

    Parameters
    ----------
    segments, conditions
        As in `exhibits`, whose order is kept.
    seed
        Of the rules' random numbers; passed to servers that take one.
    writer
        Who is asked. Texts for which it fails, or twice does something else, are left out.
    stop_token
        Ends it early: nobody is asked anything new once it is pulled.

    Raises
    ------
    PerturbationError
        If a rule fails, or `k` is no number of changes.
    PermanentModelError
        If the writer cannot be asked, as by a wrong key; names the text.
    ModelError
        If it answers nothing at all.
    RunStoppedError
        If the stop token came before the end.
    """
    ruled = [condition for condition in conditions if condition.written is None]
    by_rule = iter(list(exhibits(segments, ruled, seed=seed)))  # first: if it fails, nobody is paid
    wanted = [
        _Wanted(segment=segment, condition=condition, written=condition.written, k=_k(condition))
        for condition in conditions
        if condition.written is not None
        for segment in segments
    ]
    by_model = iter(await _written(wanted, seed=seed, writer=writer, stop_token=stop_token))
    return [
        next(by_rule if condition.written is None else by_model)
        for condition in conditions
        for _ in segments
    ]


async def _written(
    wanted: Sequence[_Wanted], *, seed: int, writer: TextGenerator, stop_token: StopToken
) -> list[Exhibit | LeftOut]:
    """Have all that is wanted written, many at once; return what came of each, in their order."""
    shown: dict[int, Exhibit | LeftOut] = {}
    async with open_generation(writer) as writing:

        async def work(number: int) -> None:
            one = wanted[number]
            order = GenerationRequest(
                condition=one.condition.name,
                segment_id=one.segment.segment_id,
                unfit=f"the model, asked twice, did no {one.written.kind}",
                ask=partial(_exhibit_written_exhibits, one, seed=seed, writer=writer.name),
            )
            told = await writing.generate(order)
            if isinstance(told, GenerationFailed):
                told = _left_out(one, told.reason, writer=writer.name)
            shown[number] = told

        await each(range(len(wanted)), work, workers=writer.workers, stop_token=stop_token)
    return [shown[number] for number in range(len(wanted))]


async def _exhibit_written_exhibits(
    wanted: _Wanted, model: ChatModel, *, seed: int, writer: str
) -> Exhibit | LeftOut:
    segment = wanted.segment
    case = Case(text=segment.output, inputs=segment.inputs)
    try:
        damage = await wanted.written.damage(case, model, k=wanted.k, seed=seed)
    except NothingToDamageError as error:
        return _left_out(wanted, str(error), writer=writer)
    return exhibit_of(segment, wanted.condition, damage=damage, written_by=writer)


def _left_out(wanted: _Wanted, reason: str, *, writer: str) -> LeftOut:
    return LeftOut(
        segment_id=wanted.segment.segment_id,
        condition=wanted.condition.name,
        reason=reason,
        written_by=writer,
    )


def _k(condition: Condition) -> int:
    k = condition.options.get("k", 1)
    if not isinstance(k, int) or k < 1:
        raise PerturbationError(f"{condition.name}: a model is asked for k changes, not {k!r}")
    return k
