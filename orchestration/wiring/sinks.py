"""Sinks by name: services that receive the scores of live traffic."""

import inspect
from collections.abc import Sequence

from spanjury.adapters.sinks.http_client import HttpSink
from spanjury.judges.core import PluginError, Sink
from spanjury.orchestration.wiring.plugins import SINKS, built
from spanjury.orchestration.wiring.specs import parse_options

_METHODS = ("send", "aclose")


def open_sink(spec: str) -> tuple[str, Sink]:
    """Open a sink and return it with its name, given ``NAME`` or ``NAME:option=value,…``.

    Its connections are opened on the first request. Raise `ConfigError` if there is no such sink,
    an option does not fit or a key is missing.
    """
    name, options = parse_options(spec, what="sink")
    made = built(SINKS.get(name), name, options)
    methods = (getattr(made, method, None) for method in _METHODS)
    if not isinstance(made, Sink) or not all(map(inspect.iscoroutinefunction, methods)):
        raise PluginError(f"sink {name!r} lacks an async send or aclose: {made!r}")
    return name, made


class Webhook:
    """An address to which alerts are posted, each as a JSON object.

    A secret address, such as that of a chat program, is given as ``env:VARIABLE``. Raises
    `ConfigError` if the address is invalid, or looks secret.
    """

    def __init__(self, url: str) -> None:
        self._http = HttpSink("webhook", url=url)

    async def send(self, alerts: Sequence[object]) -> None:
        """Post alerts; raise `SinkError` like a sink."""
        for alert in alerts:
            await self._http.request("POST", "", alert)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()
