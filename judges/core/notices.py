"""Notices: what a user should know about a call that succeeds, said once each.

A notice is no warning, since nothing is wrong, and no event of the log, since it is for a person.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_receiver: ContextVar[Callable[[str], None] | None] = ContextVar("receiver", default=None)


def notice(text: str) -> None:
    """Hand `text` to whoever receives notices; nothing happens if they have no receiver."""
    receiver = _receiver.get()
    if receiver is not None:
        receiver(text)


@contextmanager
def noticed_by(receiver: Callable[[str], None]) -> Iterator[None]:
    """Hand every notice to `receiver`, each text once, for ``with``.

    Examples
    --------
    >>> with noticed_by(print):
    ...     notice("read as CSV")
    ...     notice("read as CSV")
    read as CSV
    """
    received: set[str] = set()

    def receive_once(text: str) -> None:
        if text not in received:
            received.add(text)
            receiver(text)

    token = _receiver.set(receive_once)
    try:
        yield
    finally:
        _receiver.reset(token)
