"""Turns of tenants: whose work is next, and how many places one tenant may occupy.

A tenant with little work does not wait for all the work of another tenant. Each tenant has a queue,
and work is taken from the queues by deficit round robin [1]_: each tenant earns credit at the same
rate, and a piece of work begins once its tenant's credit pays for it.

References
----------
.. [1] Shreedhar, Varghese (1996), IEEE/ACM Transactions on Networking 4(3):375-385
.. [2] Choudhury, Hahne (1998), IEEE/ACM Transactions on Networking 6(2):130-140
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


def has_share(held: Counter[str], tenant: str, *, most: int, is_shared: bool) -> bool:
    """Return whether a tenant may occupy one more of `most` places.

    If places are shared, no tenant occupies more than are left free ([2]_, with a factor of 1): a
    single tenant gets half of them, so a newcomer finds a place.

    Examples
    --------
    >>> has_share(Counter(ann=2), "ann", most=4, is_shared=True)
    False
    >>> has_share(Counter(ann=2), "bob", most=4, is_shared=True)
    True
    """
    free = most - held.total()
    return free > (held[tenant] if is_shared else 0)


@dataclass(slots=True)
class _Queue(Generic[T]):
    """The work of one tenant, each piece with its cost; the total cost; and the tenant's credit."""

    work: deque[tuple[T, float]] = field(default_factory=deque)
    cost: float = 0.0
    credit: float = 0.0

    @property
    def lacking(self) -> float:
        """The credit that the next piece of work still needs."""
        return self.work[0][1] - self.credit


class Turns(Generic[T]):
    """Waiting work, in the order in which it should begin."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue[T]] = {}

    def __contains__(self, tenant: str) -> bool:
        """Return whether work of this tenant waits."""
        return tenant in self._queues

    @property
    def lengths(self) -> Counter[str]:
        """The number of waiting pieces of work, by tenant."""
        return Counter({tenant: len(queue.work) for tenant, queue in self._queues.items()})

    def ahead(self, tenant: str) -> float:
        """Return the cost of the work that begins before a new piece of this tenant's.

        Until the tenant's own earlier work has begun, every other tenant with enough work receives
        the same share.
        """
        own = self._queues[tenant].cost if tenant in self._queues else 0.0
        return sum(min(own, queue.cost) for queue in self._queues.values())

    def add(self, work: T, *, tenant: str, cost: float) -> None:
        """Queue `work` with its cost, which is positive, in any unit."""
        queue = self._queues.setdefault(tenant, _Queue())
        queue.work.append((work, cost))
        queue.cost += cost

    def take(self, may: Callable[[str], bool] = lambda _: True) -> T | None:
        """Return the next work among tenants for which `may` is true; None if there is none.

        The credit of each of them grows by just the amount that the next piece of work lacks.
        """
        ring = {tenant: queue for tenant, queue in self._queues.items() if may(tenant)}
        if not ring:
            return None
        tenant = min(ring, key=lambda name: ring[name].lacking)
        earned = max(0.0, ring[tenant].lacking)
        for queue in ring.values():
            queue.credit += earned
        work, cost = ring[tenant].work.popleft()
        ring[tenant].credit -= cost
        self._forget(tenant, cost)
        return work

    def remove(self, work: T) -> None:
        """Remove `work` from the queue; raise `ValueError` if it is not there."""
        for tenant, queue in self._queues.items():
            for entry in queue.work:
                if entry[0] is work:
                    queue.work.remove(entry)
                    self._forget(tenant, entry[1])
                    return
        raise ValueError(f"{work!r} does not wait")

    def _forget(self, tenant: str, cost: float) -> None:
        """Remove a piece of work, and a tenant without any, so that credit is not saved up."""
        queue = self._queues.pop(tenant)
        queue.cost -= cost
        if queue.work:
            self._queues[tenant] = queue  # at the end of the ring, behind equals
