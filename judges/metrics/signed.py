"""Signatures of metrics: what a metric is, its options, and the libraries that it computes with."""

from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import metadata
from typing import ClassVar

from spanjury.judges.core import signature


@lru_cache(maxsize=64)
def version(library: str) -> str:
    """Return the version of an installed library; cached, because signatures are read often."""
    return metadata.version(library)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A metric whose signature has all its options, in their order.

    Attributes
    ----------
    kind
        Name of the metric.
    libraries
        The libraries whose versions may change its scores.
    """

    kind: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]] = ()

    @property
    def signature(self) -> str:
        """The options, and the versions of the libraries that compute."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        versions = {name.replace("-", "_"): version(name) for name in self.libraries}
        return signature(self.kind, **options, **versions)
