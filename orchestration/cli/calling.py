"""From a command to the function that does its work."""

from collections.abc import Mapping
from pkgutil import resolve_name

from spanjury.orchestration.cli.exits import exits

__all__ = ["call"]


def call(name: str, told: Mapping[str, object]) -> None:
    """Call a command's function, ``module:function`` beside this file, with its flags."""
    with exits():
        function = resolve_name(f"{__package__}.{name}")
        function(**told)
