"""Answers of the server of a view: JSON, refusals in one line, and the headers of both."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

_MOST_DIGITS = 12
_JSON = msgspec.json.Encoder()


class Refused(Exception):  # noqa: N818  it is an answer
    """A request that is answered with a status of its own and a line that says why.

    The answer holds a `title`, which says why, and further keys.
    """

    def __init__(self, status: int, title: str, **more: object) -> None:
        super().__init__(title)
        self.status = status
        self.values: Mapping[str, object] = {"title": title, **more}


def answer(value: object, *, status: int = 200) -> web.Response:
    """Return `value` as JSON."""
    return web.Response(body=_JSON.encode(value), content_type="application/json", status=status)


def text_of_query(request: web.Request, name: str, default: str | None = None) -> str:
    """Return a parameter of the address; raise `Refused` if it is missing or there twice."""
    values = request.query.getall(name, [] if default is None else [default])
    if len(values) != 1:
        raise Refused(400, f"the parameter {name} is needed once, got it {len(values)} times")
    return values[0]


def number_of_query(request: web.Request, name: str, default: int | None = None) -> int:
    """Return a parameter that is a whole number; raise `Refused` if it is none."""
    text = text_of_query(request, name, None if default is None else str(default))
    return checked_number(text, name=name)


def checked_number(text: str, *, name: str) -> int:
    """Return the whole number in a text; raise `Refused` if it is none, or too long."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise Refused(400, f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)
