"""Samples that several metrics share, with a cache of the values computed from them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Concatenate, ParamSpec, Self, TypeVar, cast, overload

from spanjury.judges.core import Sample

T = TypeVar("T")
P = ParamSpec("P")


class Corpus(Sequence[Sample]):
    """Samples, with a cache of the values computed from them.

    It is a sequence of its samples, and works as such for a metric that does not know it. A metric
    that does calls ``Corpus.of(samples).once(make, ...)``, and later metrics reuse the value. It
    belongs to one thread.
    """

    __slots__ = ("_made", "_samples")

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self._made: dict[Hashable, object] = {}

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Return `samples` if they are already a corpus, else a new one."""
        return samples if isinstance(samples, cls) else cls(samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        return self._samples[index]

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def once(
        self, make: Callable[Concatenate[Self, P], T], /, *args: P.args, **options: P.kwargs
    ) -> T:
        """Return the value of `make` for the corpus, computed at the first call.

        The arguments are part of the cache key, so they must be hashable; the value must not be
        changed.
        """
        key = (make, args, tuple(sorted(options.items())))
        if key not in self._made:
            self._made[key] = make(self, *args, **options)
        return cast("T", self._made[key])  # the key contains the function that returned the value


def first_pairs(corpus: Corpus) -> Corpus:
    """Return the samples with only their first reference; the same corpus if each has one."""
    if all(len(sample.references) == 1 for sample in corpus):
        return corpus
    return Corpus([replace(sample, references=(sample.references[0],)) for sample in corpus])


def all_pairs(corpus: Corpus) -> Corpus:
    """Return a sample for each reference of each sample; the same corpus if each has one."""
    if all(len(sample.references) == 1 for sample in corpus):
        return corpus
    return Corpus(
        [
            replace(sample, references=(reference,))
            for sample in corpus
            for reference in sample.references
        ]
    )
