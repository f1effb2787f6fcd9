"""A text that is damaged several times over, with every place of damage still known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType

from numpy.random import Generator

from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import Case, NothingToDamageError, Perturbation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Harm:
    """One sort of damage, in one dose; equal to itself only."""

    name: str
    rule: str
    perturbation: Perturbation
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    severity: int = 3
    """1 to 5: how grave the errors are that it makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One edit of a damaged text.

    `start`, `end`: where in the text, half-open in code points; equal where something was taken
    out.
    """

    start: int
    end: int
    was: str
    harm: Harm


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedText:
    """A text with what was done to it: strikes in order, none of which meets another."""

    text: str
    strikes: tuple[Strike, ...] = ()

    @property
    def harms(self) -> tuple[Harm, ...]:
        """The causes of its strikes, in the order of the first strikes in the text."""
        return tuple(dict.fromkeys(strike.harm for strike in self.strikes))


def damaged_by(case: Case, harms: Sequence[Harm], rng: Generator, *, most: int) -> DamagedText:
    """Damage the text of `case` by up to `most` harms, one after the other.

    A harm that finds nothing to damage, or would strike where another has struck, is passed over.
    Raise `PerturbationError` if a rule fails.
    """
    done, struck = DamagedText(text=case.text), 0
    for harm in harms:
        if struck == most:
            break
        try:
            damage = harm.perturbation.damage(replace(case, text=done.text), rng, **harm.options)
        except NothingToDamageError:
            continue
        if not any(_meets(damage, strike) for strike in done.strikes):
            done, struck = _joined(done, damage, harm=harm), struck + 1
    return done


def _meets(damage: Damage, strike: Strike) -> bool:
    """Say whether an edit touches what another has struck."""
    return any(edit.start <= strike.end and strike.start <= edit.end for edit in damage.edits)


def _joined(before: DamagedText, damage: Damage, *, harm: Harm) -> DamagedText:
    strikes = [*_carried(before.strikes, damage), *_strikes(damage, harm)]
    return DamagedText(
        text=damage.text, strikes=tuple(sorted(strikes, key=attrgetter("start", "end")))
    )


def _carried(strikes: Sequence[Strike], damage: Damage) -> Iterator[Strike]:
    for strike in strikes:
        shift = sum(
            len(edit.text) - (edit.end - edit.start)
            for edit in damage.edits
            if edit.end < strike.start
        )
        start, end = strike.start + shift, strike.end + shift
        yield replace(strike, start=start, end=end) if shift else strike


def _strikes(damage: Damage, harm: Harm) -> Iterator[Strike]:
    for (start, end), edit in zip(damage.places, damage.edits, strict=True):
        yield Strike(start=start, end=end, was=damage.clean[edit.start : edit.end], harm=harm)
