"""A Ray cluster on this machine, whose nodes import what the tests do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from fakes.installed import imported, skip_without

ON_RAY = [
    pytest.mark.ray,
    # Ray sets options of its own that it deprecates, and leaves pipes and files of its
    # processes to the garbage collector.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""The marks of tests that start a cluster."""

SMALL = {"object_store_memory": 100_000_000}
# A dead node is known as such after three seconds, not after twenty.
_ALERT = {"health_check_period_ms": 500, "health_check_failure_threshold": 6}


class Cluster(Protocol):
    """The part of Ray's test cluster that is used; Ray has no types."""

    address: str

    def add_node(self, **options: object) -> object: ...

    def remove_node(self, node: object, *, allow_graceful: bool) -> None: ...


@contextmanager
def ray_cluster() -> Iterator[Cluster]:
    """Start a head that judges nothing; skip where Ray is not installed."""
    skip_without("ray")
    # Ours first: it sets what Ray reads when it is imported.
    imported("spanjury.adapters.cluster.ray_engine")
    utils = imported("ray.cluster_utils")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_raylet_start_wait_time_s", "120")  # the machine may be busy
        patch.delenv("RAY_ADDRESS", raising=False)
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": _ALERT, **SMALL}
        cluster = utils.Cluster(initialize_head=True, head_node_args=head)
        try:
            yield cluster
        finally:
            cluster.shutdown()
