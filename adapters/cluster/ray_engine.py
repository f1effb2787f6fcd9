"""Ray: workers on the nodes of a cluster, by way of Ray Data."""

import logging
import os
import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Ray reads them when it is imported: it must not report its use, and must show what it raises;
# under ``uv run`` it would send the working folder to every node and install there again; and a
# thread of its own that outlives a run would connect to a cluster, or start one, all by itself.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_DATA_LOG_LEVEL", "ERROR")
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")

import ray
import ray.data
from ray.actor import ActorHandle
from ray.exceptions import RayError

from spanjury.judges.core import ConfigError, EvaluationError

Worker = Callable[[str], str]
"""Does one item's work; any worker may be given any item, and an item twice."""

MOST_TASKS = 10_000
"""More would slow Ray's driver down; of more items, each task does several in a row."""

_PATIENCE = 10.0
"""Seconds to reach a cluster; Ray itself would knock for minutes."""

_HEAD = "node:__internal_head__"
"""A resource that Ray gives to the head node alone."""

_RETRIES = 3
"""Attempts more to reach a worker that is shared."""

_LOCAL = "local"
_ITEM = "item"


@contextmanager
def on_ray(address: str | None = None) -> Iterator["RayCluster"]:
    """Connect to the cluster at `address`, for as long as the context lasts.

    Without an address, the cluster is that of the environment variable ``RAY_ADDRESS``, or else
    one of this machine alone that lives as long as the context. Where Ray is connected already,
    that connection is used, and kept.

    Raises `ConfigError` if no cluster answers at the address.
    """
    with _connected(address or os.environ.get("RAY_ADDRESS") or _LOCAL):
        yield RayCluster()


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The cores and GPUs of a node that one worker takes for itself."""

    cores: int = 1
    gpus: int = 0


class Shared:
    """A worker that all others of a cluster may ask; it does one thing after the other."""

    def __init__(self, actor: ActorHandle[Any]) -> None:
        self._actor = actor

    async def ask(self, item: str) -> str:
        """Give it `item`, at once, and return what it makes of that.

        Raises `EvaluationError` if it was lost.
        """
        try:
            return str(await self._actor.work.remote(item))
        except RayError as error:
            raise _gave_up(error) from error

    def tell(self, item: str) -> None:
        """Give it `item`, from any thread, and do not wait."""
        self._actor.work.remote(item)


class RayCluster:
    """The cluster that this process is connected to; `on_ray` makes it."""

    @property
    def facts(self) -> Mapping[str, object]:
        """Ray's version, and the nodes and cores that there are now."""
        nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]  # Ray's
        return {"ray": ray.__version__, "nodes": len(nodes), "cores": self.cores}

    @property
    def cores(self) -> int:
        """The cores of all nodes."""
        return int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]  # Ray's

    def room(self, share: Share) -> int:
        """Return how many workers of this share there may be at once.

        Raises `ConfigError` if there is no room for one.
        """
        gpus = int(ray.cluster_resources().get("GPU", 0))  # type: ignore[no-untyped-call]  # Ray's
        room = self.cores // share.cores
        if share.gpus:
            room = min(room, gpus // share.gpus)
        if not room:
            raise ConfigError(
                f"a worker takes {share.cores} cores and {share.gpus} GPUs, and the cluster has"
                f" {self.cores} and {gpus}"
            )
        return room

    def share(self, make: Callable[[], Worker]) -> Shared:
        """Make a worker that all others may ask; it takes no core.

        It is on the head node, without which there is no cluster: what it knows is lost with it.
        Where the network fails for a moment, it may be given an item twice.
        """
        single = ray.remote(_Single).options(
            num_cpus=0, resources={_HEAD: 0.001}, max_task_retries=_RETRIES
        )
        return Shared(single.remote(make))  # type: ignore[arg-type]  # to Ray it may be a class

    def map(
        self,
        make: Callable[[], Worker],
        items: Sequence[str],
        *,
        most_workers: int | None = None,
        share: Share = Share(),
    ) -> Generator[str, None, None]:
        """Yield what workers make of `items`, as soon as it is made, in any order.

        Each worker takes its share of a node. Those of a node that is lost are started again where
        there is room, which is at the end of the work at the latest, and do once more what they had
        at hand.

        `make` is called on the machine where the worker works; it and what it holds must pickle.
        By default there are as many workers as there is room for.

        Raises `EvaluationError` if the cluster gives up, or a worker raises, and `ConfigError` as
        `room` does.
        """
        room = self.room(share)
        most = min(most_workers or room, room)
        try:
            yield from _mapped(
                make, items, first_workers=most, most_workers=most_workers, share=share
            )
        except RayError as error:
            raise _gave_up(error) from error


class _Single:
    """The actor of a worker that is shared."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._work = make()

    def work(self, item: str) -> str:
        return self._work(item)


class _Actor:
    """An actor that Ray keeps alive on a node: one worker, made there."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._work = make()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        return {_ITEM: [self._work(str(item)) for item in batch[_ITEM]]}


def _mapped(
    make: Callable[[], Worker],
    items: Sequence[str],
    *,
    first_workers: int,
    most_workers: int | None,
    share: Share,
) -> Iterator[str]:
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = [{_ITEM: item} for item in items]
    tasks = ray.data.from_items(rows, override_num_blocks=min(len(rows), MOST_TASKS))
    done = tasks.map_batches(
        _Actor,
        fn_constructor_args=[make],
        batch_size=1,
        num_cpus=share.cores,
        num_gpus=share.gpus or None,
        compute=ray.data.ActorPoolStrategy(
            min_size=1,  # so that who is idle makes room for a worker that was lost
            max_size=most_workers,
            initial_size=max(1, min(first_workers, len(rows))),
            max_tasks_in_flight_per_actor=1,  # none waits at a worker that may be lost
        ),
    )
    for row in done.iter_rows():
        yield str(row[_ITEM])


@contextmanager
def _connected(address: str) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    try:
        _knock(address)
        ray.init(
            address=address,
            include_dashboard=False if address == _LOCAL else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # a node that starts too slowly raises this very class
        raise ConfigError(f"no Ray cluster at {address!r}: {_last_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise `OSError` if `address` is that of a server, and none answers there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _gave_up(error: RayError) -> EvaluationError:
    return EvaluationError(f"Ray gave up: {_last_line(error)}")


def _last_line(error: Exception) -> str:
    """Return what was raised in the first place, without the way that it came."""
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else repr(error)
