"""A writing model that reads the reported errors in the prompt and rewrites each part."""

import json
import re
from collections.abc import Callable, Mapping

from loopback.answers import STALL, Answer, chat
from loopback.server import LoopbackServer, Received

_MARK = re.compile(r'^\{"mark": "(\w+)"', re.MULTILINE)
_SAYS = re.compile(r"The source says '(.*)'\.$")
_TWICE = re.compile(r'^"(.+)" occurs \d+ times in a row\.$')
_NEAREST = re.compile(r'the nearest is "(.*)"\.$')


class RewritingServer(LoopbackServer):
    """Answer each request with what `rewrite` makes of the first error of each part."""

    def __init__(self, rewrite: Callable[[Mapping[str, object]], str]) -> None:
        super().__init__(STALL)  # not given: every request has an answer of its own
        self._rewrite = rewrite

    def record(self, request: Received) -> Answer:
        """Keep `request` and rewrite the parts that it holds."""
        super().record(request)
        messages = request.body["messages"]
        assert isinstance(messages, list)
        prompt = str(messages[0]["content"])
        mark = _MARK.search(prompt)
        edits = [
            {"part": part, "text": self._rewrite(error)}
            for part, error in errors_in(prompt).items()
        ]
        return chat(json.dumps({"mark": mark[1] if mark else "", "edits": edits}))


def errors_in(prompt: str) -> dict[int, Mapping[str, object]]:
    """Return the first error of each part that a prompt reports."""
    errors: dict[int, Mapping[str, object]] = {}
    for line in prompt.splitlines():
        if line.startswith('{"part"'):
            error = json.loads(line)
            errors.setdefault(error["part"], error)
    return errors


def by_evidence(error: Mapping[str, object]) -> str:
    """Put the word that the report names as right in place; without one, leave the part out."""
    explanation = str(error["explanation"])
    match = _SAYS.search(explanation) or _NEAREST.search(explanation) or _TWICE.search(explanation)
    return match[1] if match else ""
