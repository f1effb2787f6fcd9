"""Templates: the fixed words of a prompt, kept in a file beside the code that uses them."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["fill_template", "read_template"]


@cache
def read_template(package: str, name: str) -> str:
    """Return the file `name` in the folder ``templates`` of `package`, without its last line end.

    The cache keeps one copy a process.
    """
    return (files(package) / "templates" / name).read_text(encoding="utf-8").rstrip("\n")


def fill_template(package: str, name: str, about: Mapping[str, str]) -> str:
    """Return a template with every ``$word`` replaced; texts put in are not looked into."""
    return Template(read_template(package, name)).substitute(about)
