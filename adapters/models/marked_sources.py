"""Marks in prompts that have Anthropic, and Bedrock, keep a source that is asked about again.

Other servers keep the beginnings of prompts by themselves. To keep one costs a quarter of its price
more, and to use it again a tenth of it. So a source is marked from the second request about it on,
and one of which there is a single request costs what it always did.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from spanjury.judges.core import Message

_SHORTEST = 4096
"""Characters of about 1,024 tokens: nothing shorter is kept."""
_MOST_SOURCES = 1000


class MarkedSources:
    """The sources of a model's requests so far, the latest of them."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()

    def mark(self, written: list[dict[str, Any]], messages: Sequence[Message]) -> None:
        """Mark the sources in `messages`, as `written` for the server, that were there before."""
        for fields, message in zip(written, messages, strict=False):
            text = fields["content"]
            source, rest = text[: message.shared], text[message.shared :]
            if len(source) >= _SHORTEST and rest and self._is_known(source):
                fields["content"] = [
                    {"type": "text", "text": source, "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": rest},
                ]

    def _is_known(self, source: str) -> bool:
        key = hash(source)
        is_known = key in self._seen
        self._seen[key] = None
        self._seen.move_to_end(key)
        if len(self._seen) > _MOST_SOURCES:
            self._seen.popitem(last=False)
        return is_known
