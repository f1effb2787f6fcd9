"""Dealing inputs out to training, validation and test, so that none is in two of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import fingerprint
from spanjury.orchestration.studies.distillation.examples import Split

__all__ = ["Shares", "dealt"]

_FEW = 3  # groups below which there is nothing to deal out


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Which share of the inputs is kept from training, each in ``[0, 1)``.

    Raises
    ------
    ValueError
        If a share is out of its range, or nothing is left to train on.
    """

    validation: float = 0.1
    test: float = 0.1

    def __post_init__(self) -> None:
        if min(self.validation, self.test) < 0 or self.validation + self.test >= 1:
            raise ValueError(f"shares must be 0 or more and leave some, got {self!r}")


def dealt(
    groups: Mapping[str, str], datasets: Mapping[str, str], *, shares: Shares, seed: int
) -> Mapping[str, Split]:
    """Return what each input is for.

    Parameters
    ----------
    groups
        Input -> group; what is of one group stays together.
    datasets
        Input -> data set; each is dealt out on its own, with the groups that begin in it.
    shares
        How much of a data set's inputs is kept; at least one of three groups or more. A
        group that is larger than what is still wanted is trained on.
    seed
        Another seed, another deal; which inputs there are besides matters little.
    """
    sizes = Counter(groups.values())
    of_dataset: dict[str, list[str]] = {}
    for group in sorted(sizes, key=lambda group: fingerprint(str(seed), group)):
        of_dataset.setdefault(datasets[group], []).append(group)
    split: dict[str, Split] = {}
    for order in of_dataset.values():
        split.update(_kept(order, sizes, shares=shares))
    return {one: split.get(group, "train") for one, group in groups.items()}


def _kept(order: Sequence[str], sizes: Mapping[str, int], *, shares: Shares) -> dict[str, Split]:
    """Return which groups of a data set are kept from training."""
    wanted: dict[Split, float] = {"test": shares.test, "validation": shares.validation}
    inputs = sum(sizes[group] for group in order)
    kept: dict[str, Split] = {}
    for name, share in wanted.items():
        room = max(1, round(share * inputs)) if share and len(order) >= _FEW else 0
        for group in order:
            if group not in kept and sizes[group] <= room:
                kept[group] = name
                room -= sizes[group]
    return kept
