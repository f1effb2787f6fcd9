"""Attacked texts: each attacked in every way that an exam asks for, and its plain additions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from spanjury.judges.core import Aspect, PerturbationError, Segment
from spanjury.perturbations.attacks.attack import Attack, AttackCase, Attacked
from spanjury.perturbations.attacks.standard import plain_addition, rounded_length
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.pairs import Condition, Skipped
from spanjury.perturbations.perturbation import Case, NothingToDamageError, generator_for

PLAIN = "plain-addition"
"""Family of the controls that are as long as an attack and ask for nothing."""
REPEAT = "repeat"
"""Name and family of the control that is the same text, judged a second time."""
CONTROLS = frozenset({PLAIN, REPEAT})
"""Families of the controls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedText:
    """An attacked text beside the same text without the attack.

    Parameters
    ----------
    base, attacked
        Without and with the addition, under ids of their own.
    edits
        The output before, and what was added to it.
    aspects
        The aspects on which a judge can see the addition: one that looks at no input sees no
        attack on the source.
    control
        Name of the plain addition that is about as long; empty for a control.
    """

    base: Segment
    attacked: Segment
    attack: str
    family: str
    edits: Damage
    aspects: tuple[Aspect, ...]
    control: str = ""


def attack_texts(
    bases: Sequence[Segment],
    aspects: Sequence[Aspect],
    attacks: Mapping[str, Attack],
    *,
    seed: int,
) -> Iterator[AttackedText | Skipped]:
    """Attack every text in every way, in words that fit the scale of its aspects.

    Raise `PerturbationError` if an attack fails.

    Parameters
    ----------
    aspects
        On which they are judged; those that share the label of the best score share an attack.

    Yields
    ------
    AttackedText or Skipped
        Attack by attack, the plain additions of a text behind the attacks on it.
    """
    scales: dict[tuple[str, int], list[Aspect]] = {}
    for aspect in aspects:
        scales.setdefault((aspect.scale.labels[-1], aspect.scale.high), []).append(aspect)
    for group in scales.values():
        for base in bases:
            yield from _attack_text(base, tuple(group), attacks, seed=seed)


def _attack_text(
    base: Segment, aspects: tuple[Aspect, ...], attacks: Mapping[str, Attack], *, seed: int
) -> Iterator[AttackedText | Skipped]:
    """Yield one text in every form; each plain addition once for all attacks as long."""
    scale, task = aspects[0].scale, aspects[0].task
    case = AttackCase(
        text=base.output,
        inputs=base.inputs,
        header=task.output_header,
        best=scale.labels[-1],
        highest=scale.high,
    )
    plain: dict[str, AttackedText] = {}
    for name, attack in attacks.items():
        rng = generator_for(seed, name, base.segment_id)
        pair = _pair(base, aspects, partial(attack.on, case, rng), name=name)
        if isinstance(pair, Skipped):
            yield pair
            continue
        text, attacked = pair
        size = rounded_length(attacked.length)
        control = f"{PLAIN}-{attacked.target}-{size}"
        yield replace(text, family=attack.family, control=control)
        if control not in plain:
            add = partial(
                plain_addition,
                case,
                generator_for(seed, control, base.segment_id),
                target=attacked.target,
                length=size,
            )
            added = _pair(base, aspects, add, name=control)
            assert not isinstance(added, Skipped)  # where an attack fits, it fits
            plain[control] = replace(added[0], family=PLAIN)
    yield from plain.values()


def _pair(
    base: Segment, aspects: Sequence[Aspect], attack: Callable[[], Attacked], *, name: str
) -> tuple[AttackedText, Attacked] | Skipped:
    """Put the attacked text beside `base`, for the aspects that see a difference."""
    skipped = partial(Skipped, segment_id=base.segment_id, condition=name)
    try:
        attacked = attack()
        segment = replace(
            base,
            segment_id=f"{base.segment_id}#{name}",
            output=attacked.output.text,
            inputs=attacked.inputs,
            gold=(),
        )
    except NothingToDamageError as error:
        return skipped(reason=str(error))
    except ValueError as error:  # a segment may refuse what an attack makes of it
        return skipped(reason=f"it is refused before any judge sees it: {error}")
    seen = tuple(aspect for aspect in aspects if _differs(base, segment, aspect))
    if not seen:
        return skipped(reason="no aspect looks at what was attacked")
    text = AttackedText(
        base=base, attacked=segment, attack=name, family="", edits=attacked.output, aspects=seen
    )
    return text, attacked


def _differs(base: Segment, attacked: Segment, aspect: Aspect) -> bool:
    return base.output != attacked.output or aspect.view(base.inputs) != aspect.view(
        attacked.inputs
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Flawed:
    """The texts that are attacked.

    Parameters
    ----------
    segments
        Under the ids that they had; without gold spans, which were those of the good text.
    good
        Id of a damaged text -> the text before it was damaged, under an id of its own.
    """

    segments: tuple[Segment, ...]
    good: Mapping[str, Segment] = field(default_factory=lambda: MappingProxyType({}))
    damaged: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def flawed(segments: Sequence[Segment], conditions: Sequence[Condition], *, seed: int) -> Flawed:
    """Damage every text in all ways that it can be damaged in, one after the other.

    A text that cannot be damaged at all is attacked as it is.

    Raise `PerturbationError` if a rule fails, naming the condition and the segment.
    """
    damaged: Counter[str] = Counter()
    flaws = tuple(_flawed(segment, conditions, seed=seed, damaged=damaged) for segment in segments)
    good = {
        flaw.segment_id: replace(segment, segment_id=f"{segment.segment_id}#good", gold=())
        for segment, flaw in zip(segments, flaws, strict=True)
        if flaw.output != segment.output
    }
    return Flawed(segments=flaws, good=good, damaged=dict(damaged))


def _flawed(
    segment: Segment, conditions: Sequence[Condition], *, seed: int, damaged: Counter[str]
) -> Segment:
    text = segment.output
    for condition in conditions:
        case = Case(text=text, inputs=segment.inputs)
        rng = generator_for(seed, condition.name, segment.segment_id)
        try:
            text = condition.perturbation.damage(case, rng, **condition.options).text
        except NothingToDamageError:
            continue
        except PerturbationError as error:
            raise PerturbationError(
                f"{condition.name} cannot damage {segment.segment_id!r}: {error}"
            ) from error
        damaged[condition.name] += 1
    return segment if text == segment.output else replace(segment, output=text, gold=())
