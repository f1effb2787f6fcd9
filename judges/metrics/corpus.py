"""Samples that metrics share: what one of them has made of the texts, the next one finds."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Concatenate, ParamSpec, Self, TypeVar, cast, overload

from spanjury.judges.core import Sample

T = TypeVar("T")
P = ParamSpec("P")


class Corpus(Sequence[Sample]):
    """Samples, and what has been made of them so far, each thing once.

    It is a sequence of its samples, and no more than that to a metric that knows nothing of it. A
    metric that does asks ``Corpus.of(samples).once(make, ...)``, and what it makes is there for the
    metrics after it. It belongs to one thread.

    Examples
    --------
    >>> def lengths(corpus: Corpus) -> list[int]:
    ...     return [len(sample.output) for sample in corpus]
    >>> corpus = Corpus.of([Sample(output="abc")])
    >>> corpus.once(lengths) is Corpus.of(corpus).once(lengths)
    True
    """

    __slots__ = ("_made", "_samples")

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self._made: dict[Hashable, object] = {}

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Return `samples` if they are such a corpus already, else a new one."""
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
        """Return what `make` makes of the corpus, made when it is first asked for.

        Its options are what it is remembered by; they can be hashed, and what is returned is not
        to be changed.
        """
        key = (make, args, tuple(sorted(options.items())))
        if key not in self._made:
            self._made[key] = make(self, *args, **options)
        return cast("T", self._made[key])  # the key holds the function that returned it


def first_pairs(corpus: Corpus) -> Corpus:
    """Return the samples with their first reference alone; the same corpus if it has no other."""
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
