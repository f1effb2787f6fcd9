"""Notices: messages to the user about a call that succeeds, each shown once.

A notice is not a warning, since nothing is wrong, and not an event of the log, since it is
for a person.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_receiver: ContextVar[Callable[[str], None] | None] = ContextVar("receiver", default=None)


def notice(text: str) -> None:
    """Pass `text` to the current receiver of notices, if there is one."""
    receiver = _receiver.get()
    if receiver is not None:
        receiver(text)


@contextmanager
def noticed_by(receiver: Callable[[str], None]) -> Iterator[None]:
    """Pass each distinct notice to `receiver` once, within a ``with`` block.

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
