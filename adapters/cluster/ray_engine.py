"""Workers on the nodes of a Ray cluster, scheduled by Ray Data."""

import logging
import os
import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Ray reads these at import. They disable its usage reports; limit the log of Ray Data to errors;
# keep ``uv run`` from sending the working folder to every node and installing it there; and keep a
# background thread that outlives a run from connecting to a cluster, or starting one, by itself.
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
"""Processes one item. Any worker may get any item, and an item may be processed twice."""

MOST_TASKS = 10_000
"""Maximum number of Ray tasks per run: more slow its driver down. A task can have several items."""

_PATIENCE = 10.0
"""Seconds to wait for a cluster; Ray's own attempts would take minutes."""

_HEAD = "node:__internal_head__"
"""A resource that Ray assigns to the head node only."""

_RETRIES = 3
"""Additional attempts to reach a shared worker."""

_LOCAL = "local"
_ITEM = "item"


@contextmanager
def on_ray(address: str | None = None) -> Iterator["RayCluster"]:
    """Connect to the cluster at `address`, for as long as the context lasts.

    Without an address, the environment variable ``RAY_ADDRESS`` names the cluster; if it is unset,
    a cluster on this machine is started, and stopped with the context. If Ray is already
    connected, that connection is used and left open.

    Raises `ConfigError` if no cluster answers at the address.
    """
    if ray.is_initialized():
        yield RayCluster()
        return
    address = address or os.environ.get("RAY_ADDRESS") or _LOCAL
    try:
        _knock(address)
        ray.init(
            address=address,
            include_dashboard=False if address == _LOCAL else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # Ray raises a plain Exception if a node starts too slowly
        raise ConfigError(f"no Ray cluster at {address!r}: {_last_line(error)}") from error
    try:
        yield RayCluster()
    finally:
        ray.shutdown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Cores and GPUs of a node that one worker reserves."""

    cores: int = 1
    gpus: int = 0


class Shared:
    """A worker that all other workers can call; it processes one item at a time."""

    def __init__(self, actor: ActorHandle[Any]) -> None:
        self._actor = actor

    async def ask(self, item: str) -> str:
        """Send `item` at once, and return the worker's reply.

        Raises `EvaluationError` if the worker was lost.
        """
        try:
            return str(await self._actor.work.remote(item))
        except RayError as error:
            raise _gave_up(error) from error

    def tell(self, item: str) -> None:
        """Send `item` from any thread, without waiting for a reply."""
        self._actor.work.remote(item)


class RayCluster:
    """The cluster that this process is connected to; `on_ray` creates it."""

    @property
    def facts(self) -> Mapping[str, object]:
        """Ray's version, and the current number of nodes and cores."""
        nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]  # Ray's
        return {"ray": ray.__version__, "nodes": len(nodes), "cores": self.cores}

    @property
    def cores(self) -> int:
        """Number of cores of all nodes."""
        return int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]  # Ray's

    def room(self, share: Share) -> int:
        """Return the number of workers with this share that can run at once.

        Raises `ConfigError` if not even one fits.
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
        """Start a worker that all others can call; it reserves no core.

        It runs on the head node, whose loss ends the cluster anyway, and its state is lost with it.
        After a short network failure it may get an item twice.
        """
        single = ray.remote(_Actor).options(
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
        """Yield the workers' results for `items` as they complete, in any order.

        Each worker reserves its share of a node. The workers of a lost node are restarted where
        there is room, at the latest when other workers finish, and repeat the items that they had
        in hand.

        `make` is called on the worker's machine; it, and all that it refers to, must be picklable.
        By default there are as many workers as fit.

        Raises `EvaluationError` if the cluster fails or a worker raises, and `ConfigError` as
        `room` does.
        """
        room = self.room(share)
        rows = [{_ITEM: item} for item in items]
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            tasks = ray.data.from_items(rows, override_num_blocks=min(len(rows), MOST_TASKS))
            done = tasks.map_batches(
                _Actor,
                fn_constructor_args=[make],
                batch_size=1,
                num_cpus=share.cores,
                num_gpus=share.gpus or None,
                compute=ray.data.ActorPoolStrategy(
                    min_size=1,  # so that idle actors make room for workers of a lost node
                    max_size=most_workers,
                    initial_size=max(1, min(most_workers or room, room, len(rows))),
                    max_tasks_in_flight_per_actor=1,  # no item waits for a worker that may be lost
                ),
            )
            for row in done.iter_rows():
                yield str(row[_ITEM])
        except RayError as error:
            raise _gave_up(error) from error


class _Actor:
    """The Ray actor behind a worker, kept alive on a node."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._work = make()

    def work(self, item: str) -> str:
        """Process one item of a shared worker."""
        return self._work(item)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Process a batch of `RayCluster.map`."""
        return {_ITEM: [self._work(str(item)) for item in batch[_ITEM]]}


def _knock(address: str) -> None:
    """Raise `OSError` if `address` names a host and port, and no server listens there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _gave_up(error: RayError) -> EvaluationError:
    return EvaluationError(f"Ray gave up: {_last_line(error)}")


def _last_line(error: Exception) -> str:
    """Return the last line of the message: the original error, without Ray's traceback."""
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else repr(error)
