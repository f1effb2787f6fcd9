"""What a user tells of a server: its address, which must be plain, and perhaps no key."""

from spanjury.adapters.models.scrubbing import scrub, without_credentials
from spanjury.judges.core import ConfigError

__all__ = ["PLACEHOLDER_KEY", "refuse_credentials"]

PLACEHOLDER_KEY = "none-needed"
"""What is shown to a server for which the user has no key: it may want none."""


def refuse_credentials(base_url: str) -> None:
    """Turn away an address with a user name or password in it.

    No request could send them beside a key, and addresses are printed in messages.

    Raises
    ------
    ConfigError
        If `base_url` holds credentials; the message does not repeat them.
    """
    if without_credentials(base_url) != base_url:
        raise ConfigError(
            f"base URL {scrub(base_url)!r}: leave user name and password out, and put the"
            " server's key into the environment"
        )
