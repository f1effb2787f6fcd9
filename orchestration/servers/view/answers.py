"""Responses of a view's server: JSON, errors in one line, and parameters of requests."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

_MOST_DIGITS = 12
_JSON = msgspec.json.Encoder()


class Refused(Exception):  # noqa: N818  it is an answer
    """A request to be answered with a given status and a one-line reason.

    The answer contains the reason as `title`, and further keys.
    """

    def __init__(self, status: int, title: str, **more: object) -> None:
        super().__init__(title)
        self.status = status
        self.values: Mapping[str, object] = {"title": title, **more}


def answer(value: object, *, status: int = 200) -> web.Response:
    """Return `value` as a JSON response."""
    return web.Response(body=_JSON.encode(value), content_type="application/json", status=status)


def text_of_query(request: web.Request, name: str, default: str | None = None) -> str:
    """Return a query parameter; raise `Refused` if it is missing or repeated."""
    values = request.query.getall(name, [] if default is None else [default])
    if len(values) != 1:
        raise Refused(400, f"the parameter {name} is needed once, got it {len(values)} times")
    return values[0]


def number_of_query(request: web.Request, name: str, default: int | None = None) -> int:
    """Return a query parameter that is a whole number; raise `Refused` if it is not."""
    text = text_of_query(request, name, None if default is None else str(default))
    return checked_number(text, name=name)


def checked_number(text: str, *, name: str) -> int:
    """Return the whole number in a text; raise `Refused` if there is none, or it is too long."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise Refused(400, f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)
