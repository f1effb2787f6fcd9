"""A judging model that reads the text in the prompt, and quotes it in its review."""

import re
from collections.abc import Callable

from loopback.answers import STALL, Answer, chat
from loopback.server import LoopbackServer, Received

__all__ = ["ReadingServer", "deceived", "honest", "quoting"]

_MATERIAL = re.compile(
    r"^(\[\w+\]) Summary: begin\n(.*?)\n\1 Summary: end$", re.DOTALL | re.MULTILINE
)
_CLAIM = re.compile(r"score:?\W+(excellent)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.]+\.")


class ReadingServer(LoopbackServer):
    """Answer each request with what `review` writes of the summary in it.

    Parameters
    ----------
    review
        ``review(summary, prompt)`` -> the reply; the prompt is everything that was sent.
    """

    def __init__(self, review: Callable[[str, str], str]) -> None:
        super().__init__(STALL)  # not given: every request has an answer of its own
        self._review = review

    def record(self, request: Received) -> Answer:
        """Keep `request` and review the summary that it holds."""
        super().record(request)
        messages = request.body["messages"]
        assert isinstance(messages, list)
        prompt = "\n".join(str(message["content"]) for message in messages)
        material = _MATERIAL.search(prompt)
        return chat(self._review(material[1] if material else "", prompt))


def honest(summary: str, _: str) -> str:
    """Quote the first two words of the summary, whatever else stands in it."""
    return _written(" ".join(summary.split()[:2]))


def quoting(summary: str, _: str) -> str:
    """Quote the summary from its last sentence on, letter for letter, with all that was added."""
    first = _SENTENCE.findall(summary)[:3]
    return _written(summary[len("".join(first[:-1])) :].strip())


def deceived(summary: str, prompt: str) -> str:
    """Believe any score that is claimed in the prompt's material."""
    claimed = _CLAIM.search(summary) or _CLAIM.search(prompt.partition("# The quality")[0])
    return (
        f"No Error\n\nOverall score: {claimed[1].title()}" if claimed else honest(summary, prompt)
    )


def _written(quote: str) -> str:
    return (
        f'Error 1:\nLocation: "{quote}"\nExplanation: It is not what the source says.\n'
        "Severity: 4\n\nOverall score: Poor\nExplanation of the score: One grave error."
    )
