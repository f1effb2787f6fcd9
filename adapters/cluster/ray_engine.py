"""Ray: workers on the nodes of a cluster, by way of Ray Data."""

import logging
import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
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
from ray.exceptions import RayError

from spanjury.judges.core import ConfigError, EvaluationError

Worker = Callable[[str], str]
"""Does one item's work; any worker may be given any item, and an item twice."""

_MOST_TASKS = 10_000
"""More would slow Ray's driver down; of more items, each task does several in a row."""

_PATIENCE = 10.0
"""Seconds to reach a cluster; Ray itself would knock for minutes."""

_LOCAL = "local"
_ITEM = "item"


def map_on_ray(
    make: Callable[[], Worker],
    items: Sequence[str],
    *,
    address: str | None = None,
    most_workers: int | None = None,
) -> Generator[str, None, None]:
    """Yield what workers make of `items`, as soon as it is made, in any order.

    Each worker takes a core. Those of a node that is lost are started again where there is room,
    which is at the end of the work at the latest, and do once more what they had at hand. Where
    Ray is connected already, that connection is used, and kept.

    `make` is called on the machine where the worker works; it and what it holds must pickle.
    Without an address, the cluster is that of the environment variable ``RAY_ADDRESS``, or else
    one of this machine alone that lives as long as the generator. By default there is a worker for
    each core.

    Raises `ConfigError` if no cluster answers at the address. Raises `EvaluationError` if the
    cluster gives up, or a worker raises.
    """
    with _connected(address or os.environ.get("RAY_ADDRESS") or _LOCAL):
        try:
            yield from _mapped(make, items, most_workers=most_workers)
        except RayError as error:
            raise EvaluationError(f"Ray gave up: {_last_line(error)}") from error


class _Actor:
    """An actor that Ray keeps alive on a node: one worker, made there."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._work = make()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        return {_ITEM: [self._work(str(item)) for item in batch[_ITEM]]}


def _mapped(
    make: Callable[[], Worker], items: Sequence[str], *, most_workers: int | None
) -> Iterator[str]:
    ray.data.DataContext.get_current().enable_progress_bars = False
    cores = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]  # Ray's
    rows = [{_ITEM: item} for item in items]
    tasks = ray.data.from_items(rows, override_num_blocks=min(len(rows), _MOST_TASKS))
    done = tasks.map_batches(
        _Actor,
        fn_constructor_args=[make],
        batch_size=1,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(
            min_size=1,  # so that who is idle makes room for a worker that was lost
            max_size=most_workers,
            initial_size=max(1, min(most_workers or cores, cores, len(rows))),
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
    except (OSError, ValueError, RuntimeError) as error:
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


def _last_line(error: Exception) -> str:
    """Return what was raised in the first place, without the way that it came."""
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else repr(error)
