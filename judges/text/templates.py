"""Templates: the fixed words of a prompt, kept in a file beside the code that uses them."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["fill_template", "read_template"]

_PLACE = re.compile(r"\$([a-z_]+)")


@cache
def read_template(package: str, name: str) -> str:
    """Return the file `name` in the folder ``templates`` of `package`, without its last line end.

    The cache keeps one copy a process.
    """
    return (files(package) / "templates" / name).read_text(encoding="utf-8").rstrip("\n")


def fill_template(package: str, name: str, about: Mapping[str, str]) -> str:
    """Return a template with every ``$word`` replaced; texts put in are not looked into."""
    pieces = list(_pieces(package, name))
    pieces[1::2] = [about[word] for word in pieces[1::2]]
    return "".join(pieces)


@cache
def _pieces(package: str, name: str) -> tuple[str, ...]:
    """Return the fixed texts of a template and, between them, the words of its places."""
    return tuple(_PLACE.split(read_template(package, name)))
