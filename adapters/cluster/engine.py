"""What a cluster does for us, whichever it is, and how to come by it."""

from collections.abc import Callable, Generator, Sequence
from pkgutil import resolve_name
from typing import Protocol, cast

from spanjury.judges.core import ConfigError

__all__ = ["MapOnCluster", "Worker", "load_ray"]

Worker = Callable[[str], str]
"""Does one item's work; any worker may be given any item, and an item twice."""


class MapOnCluster(Protocol):
    """Have many workers, on many machines, do a list of items."""

    def __call__(
        self,
        make: Callable[[], Worker],
        items: Sequence[str],
        *,
        address: str | None = None,
        most_workers: int | None = None,
    ) -> Generator[str, None, None]:
        """Yield what workers make of `items`, as soon as it is made, in any order.

        Parameters
        ----------
        make
            Makes a worker, on the machine where it works; it and what it holds must pickle.
        items
            What there is to do.
        address
            Where the cluster is; None for where the engine looks by itself.
        most_workers
            How many workers there may be; None for one a core of the cluster.

        Raises
        ------
        ConfigError
            If no cluster answers at the address.
        EvaluationError
            If the cluster gives up, or a worker raises.
        """
        ...


def load_ray() -> MapOnCluster:
    """Load Ray, which takes seconds; raise `ConfigError` if it is not installed."""
    try:
        loaded = resolve_name("spanjury.adapters.cluster.ray_engine:map_on_ray")
    except ImportError as error:
        raise ConfigError(f"Ray is not installed ({error}): pip install 'spanjury[ray]'") from error
    return cast("MapOnCluster", loaded)  # mypy checks it where it is defined
