"""The limits of data files, which hold for every command that reads some."""

from collections.abc import Sequence

from spanjury.orchestration.wiring import set_data_limits

__all__ = ["limit_data"]


def limit_data(*, data_limit: Sequence[str]) -> None:
    """Hold the data that the command reads to the limits that its flags name.

    Raises
    ------
    ConfigError
        If a flag is not ``NAME=NUMBER``, or of no known name.
    """
    set_data_limits(data_limit)
