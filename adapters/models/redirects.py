"""Redirects, which are refused: a text goes to the address that the user gave, and no other."""

from urllib.parse import urljoin, urlsplit

from spanjury.adapters.models.model_errors import told
from spanjury.judges.core import UnusableModelError

__all__ = ["is_redirect", "redirect_refused"]

_REDIRECT = range(300, 400)


def is_redirect(status: int) -> bool:
    """Tell whether an answer sends the caller elsewhere."""
    return status in _REDIRECT


def redirect_refused(
    location: str, *, status: int, asked: str, source: str, key: str = ""
) -> UnusableModelError:
    """Return the error that a redirect is.

    Parameters
    ----------
    location
        Where the answer leads, in full or within the server; empty if it does not say.
    status
        Its status, 3xx.
    asked
        The address that was asked.
    source, key
        Name and address of the model, and the key that must not be in the message.

    Returns
    -------
    UnusableModelError
        Names the status and the host that it leads to, without path and query, which may
        hold a key.
    """
    said = (
        f"redirects are not followed, and it leads to {_host(location, asked=asked)}: give the"
        " server's final address as the base URL"
    )
    return UnusableModelError(f"{source}: {told(said, status=status, key=key)}")


def _host(location: str, *, asked: str) -> str:
    """Return scheme, host and port of a target; nothing else of it is shown."""
    try:
        target = urlsplit(urljoin(asked, location) if location else "")
        port = f":{target.port}" if target.port else ""
    except ValueError:
        target, port = urlsplit(""), ""
    if not target.hostname:
        return "an address that it does not name"
    host = f"[{target.hostname}]" if ":" in target.hostname else target.hostname
    return f"{target.scheme}://{host}{port}"
