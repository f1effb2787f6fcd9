"""Turns of tenants: whose work comes next where several ask, and how much one of them may hold.

It promises that a tenant who asks for little does not wait for all that another asks for. Work
waits in a queue a tenant, and is taken from the queues by deficit round robin [1]_: each tenant
earns credit at the same rate, and a piece of work begins once its tenant's credit pays for it.

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
    """Say whether a tenant may hold one more of `most` places.

    Where they are shared, no tenant holds more than are left free ([2]_, with a factor of 1): one
    who asks alone gets half of them, and a newcomer finds a place.

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
    """The work of one tenant, each piece with its cost; what it costs in all; and its credit."""

    work: deque[tuple[T, float]] = field(default_factory=deque)
    cost: float = 0.0
    credit: float = 0.0

    @property
    def lacking(self) -> float:
        """The credit that is missing for the next piece of work."""
        return self.work[0][1] - self.credit


class Turns(Generic[T]):
    """Work that waits, in the order in which it is to begin."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue[T]] = {}

    def __len__(self) -> int:
        return sum(len(queue.work) for queue in self._queues.values())

    def __contains__(self, tenant: str) -> bool:
        """Say whether work of this tenant waits."""
        return tenant in self._queues

    @property
    def lengths(self) -> Counter[str]:
        """The number of pieces of work that wait, by tenant."""
        return Counter({tenant: len(queue.work) for tenant, queue in self._queues.items()})

    def ahead(self, tenant: str) -> float:
        """Return the cost of the work that begins before a new piece of this tenant's.

        While it waits for its own, every other tenant gets as much, if it has as much.
        """
        own = self._queues[tenant].cost if tenant in self._queues else 0.0
        return sum(min(own, queue.cost) for queue in self._queues.values())

    def add(self, work: T, *, tenant: str, cost: float) -> None:
        """Have `work` wait; its cost is positive, in any unit."""
        queue = self._queues.setdefault(tenant, _Queue())
        queue.work.append((work, cost))
        queue.cost += cost

    def take(self, may: Callable[[str], bool] = lambda _: True) -> T | None:
        """Return the work that is next of the tenants that may begin some; None if there is none.

        Credit comes in just the amount that the next piece of work lacks.
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
        """Take `work` out; raise `ValueError` if it does not wait."""
        for tenant, queue in self._queues.items():
            for entry in queue.work:
                if entry[0] is work:
                    queue.work.remove(entry)
                    self._forget(tenant, entry[1])
                    return
        raise ValueError(f"{work!r} does not wait")

    def _forget(self, tenant: str, cost: float) -> None:
        """Forget a piece of work, and a tenant for whom nothing waits: credit is not saved up."""
        queue = self._queues.pop(tenant)
        queue.cost -= cost
        if queue.work:
            self._queues[tenant] = queue  # the end of the ring, for those that lack as little
