"""What a comparison of two judges says in words."""

from collections.abc import Iterator, Sequence

from spanjury.orchestration.studies.comparison.comparison import (
    LEVEL,
    Compared,
    Comparison,
    Preference,
)
from spanjury.orchestration.studies.comparison.sharing import Place, Unshared

__all__ = ["conclusion", "difference", "preferred", "remarks", "what_was_done"]

_BETTER = {"falls": "discerns more", "unchanged": "moves less"}
_NAMES = {Preference.FIRST: "A", Preference.SECOND: "B"}
_NAMED = 5
"""Of so many the names are told, of others how many more there are."""


def preferred(place: Place, compared: Compared) -> str:
    """Say which judge does better in one place, A (the first) or B."""
    if compared.preference is Preference.NOT_SHOWN:
        return "not shown"
    return f"{_NAMES[compared.preference]} {_BETTER.get(place.expected or '', 'falls more')}"


def what_was_done(place: Place) -> str:
    """Name the condition."""
    return place.condition or "nothing (judged twice)"


def difference(compared: Compared) -> str:
    """Format the difference with its interval."""
    return f"{compared.difference:+.2f} [{compared.low:+.2f}, {compared.high:+.2f}]"


def conclusion(comparison: Comparison) -> str:
    """Say in a sentence which judge discerns more, on average over what was damaged."""
    told = comparison.summary
    if told is None:
        return "There are no damaged aspects on which both judges gave scores."
    named = _NAMES.get(told.preference)
    verdict = f"{named} discerns more" if named else "it is not shown that one discerns more"
    places = sum(place.expected == "falls" for place, _ in comparison.by_place)
    return (
        f"On average over the damaged aspects ({places} pairs of treatment and aspect, "
        f"{told.texts} texts) {verdict}: A {told.first:+.2f}, B {told.second:+.2f}, "
        f"difference {difference(told)}, p = {told.p:.2g}."
    )


def remarks(comparison: Comparison) -> tuple[str, ...]:
    """Say what was not compared, and what to beware of."""
    return (*_on_unshared(comparison.unshared), *_on_resampling(comparison))


def _on_unshared(unshared: Unshared) -> Iterator[str]:
    for what, names in (
        ("Texts", unshared.texts),
        ("Treatments", unshared.conditions),
        ("Aspects", unshared.aspects),
    ):
        for judge, only in zip("AB", names, strict=True):
            if only:
                yield f"{what} in the exam of {judge} only: {_listed(only)}."
    if unshared.differing_texts:
        yield f"Texts that differ under one name: {_listed(unshared.differing_texts)}."
    for judge, count in zip("AB", unshared.damages, strict=True):
        if count:
            yield f"Damaged texts that only {judge} was shown: {count}."
    for count, told in (
        (unshared.differing_damages, "Damaged texts left out, since they differ"),
        (unshared.differing_effects, "Treatments with another expected effect on an aspect"),
        (unshared.unscored[0], "Pairs of scores that A lacks, of those that were shown to both"),
        (unshared.unscored[1], "Pairs of scores that B lacks, of those that were shown to both"),
    ):
        if count:
            yield f"{told}: {count}."


def _on_resampling(comparison: Comparison) -> Iterator[str]:
    first, second = comparison.repeats
    if first != second:
        yield (
            f"A's scores are sums of {first} and B's of {second}: a finer score moves more often."
        )
    needed = int(2 * len(comparison.by_place) / LEVEL)
    if comparison.draws < needed:
        yield (
            f"{comparison.draws} draws are too few to show anything of {len(comparison.by_place)} "
            f"places by themselves: take {needed} at least."
        )


def _listed(names: Sequence[str]) -> str:
    """Count names, and give the first of them."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(names[:_NAMED])}{more})"
