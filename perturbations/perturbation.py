"""A perturbation: controlled damage to a text, and what it should do to each aspect's score."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial, wraps
from hashlib import blake2b
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.random import PCG64, Generator
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import DTypeLike, NDArray

from spanjury.judges.core import PerturbationError, Trajectory, Turn, failing_as
from spanjury.judges.core.transcript import transcript
from spanjury.perturbations.edits import Damage, Edit, Mark, edits_between

Level = Literal["character", "word", "sentence"]
Effect = Literal["falls", "unchanged", "rises"]
EVERY_ASPECT = "*"


class NothingToDamageError(PerturbationError):
    """The text contains nothing that the perturbation could damage; the message says why."""

    @property
    def kind(self) -> str:
        """Why, without what differs from text to text, so that equal reasons can be counted."""
        return str(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A part of a damaged trajectory that is wrong, and the reason as a sentence.

    `turn`, `call` and `path` are those of `spanjury.judges.core.transcript.Position`. `start` and
    `end` are half-open offsets in code points of that part; `end` is None for the rest of it.
    """

    turn: int
    call: int = 0
    path: str = ""
    start: int = 0
    end: int | None = None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedTrajectory:
    """A trajectory that a rule has damaged, and what the agent wrote in it that is now wrong."""

    trajectory: Trajectory
    faults: tuple[Fault, ...]


def with_turn(trajectory: Trajectory, number: int, turn: Turn) -> Trajectory:
    """Return `trajectory` with another turn at `number`, counted from 1."""
    turns = trajectory.turns
    return replace(trajectory, turns=(*turns[: number - 1], turn, *turns[number:]))


Changed = Iterable[Edit] | str | DamagedTrajectory
"""Result of a rule: its edits, the whole text, or the whole trajectory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text to be damaged, with the context that a rule may use.

    Parameters
    ----------
    text
        The clean text.
    inputs
        Header -> text of the input.
    others
        Texts written for other inputs of the same task, in the order of the data.
    wrong
        A text that is known to be wrong here, such as the wrong ending of a story; or empty.
    wrong_kind
        The kind of its error; empty if unknown.
    trajectory
        The trajectory whose transcript the text is; None for another text.
    """

    text: str
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    others: Sequence[str] = ()
    wrong: str = ""
    wrong_kind: str = ""
    trajectory: Trajectory | None = None


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A rule that damages texts; a plugin of the group ``spanjury.perturbations``.

    Raises `ValueError` if there is no such level or effect.

    Parameters
    ----------
    rule
        ``rule(case, rng, **options)`` -> edits, or the whole damaged text or trajectory; the same
        for the same arguments. Its keyword parameters are the perturbation's options.
    family
        Kind of damage, such as ``"entities"``.
    level
        Level at which it damages.
    effects
        Aspect -> what its score should do; ``"*"`` for every aspect that is not named. Without
        it, the score of an unnamed aspect may change in any way.
    language
        ISO code of the one language that the rule supports; empty for any.
    """

    rule: Callable[..., Changed]
    _: KW_ONLY
    family: str
    level: Level
    effects: Mapping[str, Effect]
    language: str = ""

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            raise ValueError(f"level must be one of {get_args(Level)}, got {self.level!r}")
        for aspect, effect in self.effects.items():
            if effect not in get_args(Effect):
                raise ValueError(
                    f"the effect on {aspect!r} must be one of {get_args(Effect)}, got {effect!r}"
                )

    def effect_on(self, aspect: str) -> Effect | None:
        """Return what the score on `aspect` should do; None if any change is possible."""
        return self.effects.get(aspect, self.effects.get(EVERY_ASPECT))

    def damage(self, case: Case, rng: Generator, **options: object) -> Damage:
        """Damage the text of `case`.

        Raises `NothingToDamageError` if the rule finds nothing to damage, or leaves the text
        unchanged. Raises `PerturbationError` if the rule fails, or returns neither a text, edits of
        it, nor a trajectory with faults.
        """
        with failing_as(
            lambda error: PerturbationError(f"the rule failed: {error!r}"),
            passing=(PerturbationError,),
        ):
            changed = self.rule(case, rng, **options)
            if isinstance(changed, DamagedTrajectory):
                return _damage_of_trajectory(case, changed)
            if isinstance(changed, str):
                edits = edits_between(case.text, changed)
            else:
                edits = _checked(changed)
            damage = Damage.of(case.text, edits)
        if damage.text == case.text:
            raise NothingToDamageError("the text is unchanged")
        return damage


def text_perturbation(
    *,
    family: str,
    level: Level,
    harms: Iterable[str] = (),
    spares: Iterable[str] = (),
    language: str = "",
) -> Callable[[Callable[..., Changed]], Perturbation]:
    """Make a perturbation of ``rule(text, rng, **options)``.

    Raises `TypeError` if `harms` or `spares` is a text. Raises `ValueError` if there is no such
    level, or an aspect is in both.

    Parameters
    ----------
    family, level, language
        As in `Perturbation`.
    harms, spares
        Aspects whose scores should fall, and should stay the same; ``"*"`` for all.

    Examples
    --------
    >>> @text_perturbation(family="character", level="character", harms={"fluency"})
    ... def shout(text, rng):
    ...     return text.upper()
    >>> shout.damage(Case(text="No."), generator_for(1, "shout", "a")).text
    'NO.'
    """
    of_case = case_perturbation(
        family=family, level=level, harms=harms, spares=spares, language=language
    )

    def made(rule: Callable[..., Changed]) -> Perturbation:
        @wraps(rule)  # its options are the rule's
        def on_text(case: Case, rng: Generator, **options: object) -> Changed:
            return rule(case.text, rng, **options)

        return of_case(on_text)

    return made


def case_perturbation(
    *,
    family: str,
    level: Level,
    harms: Iterable[str] = (),
    spares: Iterable[str] = (),
    language: str = "",
) -> Callable[[Callable[..., Changed]], Perturbation]:
    """Make a perturbation of ``rule(case, rng, **options)``; see `text_perturbation`."""
    effects = _effects(harms, spares)
    return partial(Perturbation, family=family, level=level, effects=effects, language=language)


def trajectory_perturbation(
    *, family: str, level: Level, harms: Iterable[str] = (), spares: Iterable[str] = ()
) -> Callable[[Callable[..., DamagedTrajectory]], Perturbation]:
    """Make a perturbation of ``rule(trajectory, rng, **options)``; see `text_perturbation`.

    Raises `NothingToDamageError` for a text that is not a trajectory.
    """
    of_case = case_perturbation(family=family, level=level, harms=harms, spares=spares)

    def made(rule: Callable[..., DamagedTrajectory]) -> Perturbation:
        @wraps(rule)
        def on_trajectory(case: Case, rng: Generator, **options: object) -> Changed:
            if case.trajectory is None:
                raise NothingToDamageError("the text is not a trajectory")
            return rule(case.trajectory, rng, **options)

        return of_case(on_trajectory)

    return made


def generator_for(seed: int, perturbation: str, segment_id: str) -> Generator:
    """Return the generator of one damage, which does not depend on any other damage."""
    key = f"{seed}\0{perturbation}\0{segment_id}".encode("utf-8", "surrogatepass")
    return Generator(PCG64(_Digest(key)))  # type: ignore[arg-type]  # numpy's stubs are too narrow


class _Digest(ISeedSequence):
    """A digest as the initial state; numpy's own way takes four times as long."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def generate_state(
        self, n_words: int, dtype: DTypeLike = np.uint32
    ) -> NDArray[np.uint32 | np.uint64]:
        kind = np.dtype(dtype)
        digest = blake2b(self._key, digest_size=n_words * kind.itemsize).digest()
        return np.frombuffer(digest, dtype=kind.newbyteorder("<"))


def _damage_of_trajectory(case: Case, changed: DamagedTrajectory) -> Damage:
    if changed.trajectory == case.trajectory:
        raise NothingToDamageError("the trajectory is unchanged")
    if not changed.faults:
        raise PerturbationError("the rule names no fault of the damaged trajectory")
    return Damage(
        clean=case.text,
        edits=edits_between(case.text, transcript(changed.trajectory).text),
        trajectory=changed.trajectory,
        marks=tuple(_mark(fault, changed.trajectory) for fault in changed.faults),
    )


def _mark(fault: Fault, trajectory: Trajectory) -> Mark:
    interval = transcript(trajectory).interval(fault.turn, fault.call, fault.path)
    if interval is None:
        raise PerturbationError(f"the damaged trajectory has no part for {fault!r}")
    start, end = interval
    if fault.end is not None:
        end = min(end, start + fault.end)
    return Mark(start + fault.start, end, fault.explanation)


def _checked(changed: Iterable[object]) -> tuple[Edit, ...]:
    """Return the result of a rule, possibly a plugin's, if it is edits; `Damage` checks them."""
    edits: list[Edit] = []
    for edit in changed:
        if not (isinstance(edit, Edit) and isinstance(edit.text, str)):
            raise PerturbationError(f"the rule gave {edit!r}, expected a text or Edits of it")
        edits.append(edit)
    return tuple(edits)


def _effects(harms: Iterable[str], spares: Iterable[str]) -> Mapping[str, Effect]:
    for name, aspects in (("harms", harms), ("spares", spares)):
        if isinstance(aspects, str):
            raise TypeError(f"{name} must be a set of aspects, got the text {aspects!r}")
    # Sorted, because sets of names are in another order in every process.
    effects: dict[str, Effect] = dict.fromkeys(sorted(spares), "unchanged")
    harmed = sorted(harms)
    if both := sorted(effects.keys() & harmed):
        raise ValueError(f"harms and spares both contain {', '.join(both)}")
    effects.update(dict.fromkeys(harmed, "falls"))
    return MappingProxyType(effects)
