"""The guard of a view's server: access checks, and headers of every answer.

The server listens only to this machine, but every page in a browser could still send requests to
it. A foreign name that resolves to this machine (DNS rebinding) even makes such a page one of the
same origin. So the requested host must be a loopback name, and all but the empty page requires a
token, which only the URL that was shown to the user contains.
"""

import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from aiohttp import web
from aiohttp.typedefs import Middleware

from spanjury.judges.core import ConfigError, DataError, EvaluationError, EventLog, hide, shown
from spanjury.orchestration.servers.listening import is_loopback
from spanjury.orchestration.servers.view.answers import Refused, answer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = EventLog()

_API = "/api/"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?", re.IGNORECASE)
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
)


def guarded(token: str) -> Middleware:
    """Return the middleware of a server whose clients need `token`."""
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            _require_host(request)
            if _API in request.path:
                _require_token(request, expected)
            response = await handler(request)
        except Refused as refused:
            response = answer(refused.values, status=refused.status)
        except web.HTTPException as error:
            title = f"{error.status} {error.reason}"  # without words of the request
            response = answer({"title": title}, status=error.status)
        except EvaluationError as error:
            status = 400 if isinstance(error, ConfigError | DataError) else 500
            response = answer({"title": shown(hide(str(error)))}, status=status)
        except Exception:
            log.exception("view.answer_failed")
            response = answer({"title": "the server failed on this request"}, status=500)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        if response.status == web.HTTPUnauthorized.status_code:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    return guard


def _require_host(request: web.Request) -> None:
    named = request.headers.getall("Host", [])
    asked = _HOST.fullmatch(named[0]) if len(named) == 1 else None
    if asked is None or not is_loopback(asked[1].strip("[]").lower()):
        raise Refused(403, "this server answers to 127.0.0.1 and localhost only")


def _require_token(request: web.Request, expected: bytes) -> None:
    given = request.headers.getall("Authorization", [])
    sent = given[0].encode("utf-8", "surrogateescape") if len(given) == 1 else b""
    if not hmac.compare_digest(sent, expected):
        raise Refused(401, "the token is missing or wrong: open the address that was printed")
