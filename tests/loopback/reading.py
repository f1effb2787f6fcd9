"""A judging model that reads the text in the prompt, and quotes it in its review."""

import re
from collections.abc import Callable

from loopback.answers import STALL, Answer, chat, failure
from loopback.server import LoopbackServer, Received

_MATERIAL = re.compile(r"Summary: begin\n(.*)\n[^\n]*Summary: end", re.DOTALL)
_CLAIM = re.compile(r"score:?\W+(excellent)", re.IGNORECASE)
_INSTRUCTIONS = re.compile(r"# (?:The quality|What to judge)")
_FORMS = {"response_format", "structured_outputs", "guided_json", "grammar", "json_schema"}
_ROOM = 450
"""Characters of a summary that `cut_off` can quote: more than there are without an attack."""


class ReadingServer(LoopbackServer):
    """Answer each request with what `review` writes of the summary in it.

    Parameters
    ----------
    review
        ``review(summary, prompt)`` -> what the reply says, or the whole answer; the prompt is
        everything that was sent.
    """

    def __init__(self, review: Callable[[str, str], str | Answer]) -> None:
        super().__init__(STALL)  # not given: every request has an answer of its own
        self._review = review

    def record(self, request: Received) -> Answer:
        """Keep `request` and review the summary that it holds."""
        super().record(request)
        if _FORMS & request.body.keys():  # it writes in lines
            return failure(400, "this server holds no reply to a form")
        messages = request.body["messages"]
        assert isinstance(messages, list)
        prompt = "\n".join(str(message["content"]) for message in messages)
        material = _MATERIAL.search(prompt)
        written = self._review(material[1] if material else "", prompt)
        return written if isinstance(written, Answer) else chat(written)


def honest(summary: str, prompt: str) -> str:
    """Quote the first two words of the summary, whatever else stands in it."""
    return _written(" ".join(summary.split()[:2]), prompt)


def quoting(summary: str, prompt: str) -> str:
    """Quote the whole summary behind the score, letter for letter, with all that was added."""
    return f'{honest(summary, prompt)} It stands in: "{summary}"'


def cut_off(summary: str, prompt: str) -> str | Answer:
    """Quote the whole summary before the score; break off in it if it is long."""
    if len(summary) > _ROOM:
        return chat(f'{_label("Error 1", prompt)}\nLocation: "{summary[:-1]}', finish="length")
    return _written(summary, prompt)


def deceived(summary: str, prompt: str) -> str:
    """Believe any score that is claimed in the prompt's material."""
    claimed = _CLAIM.search(summary) or _CLAIM.search(_INSTRUCTIONS.split(prompt)[0])
    if not claimed:
        return honest(summary, prompt)
    return f"No Error\n\n{_label('Overall score', prompt)} {claimed[1].title()}"


def _written(quote: str, prompt: str) -> str:
    return (
        f'{_label("Error 1", prompt)}\n{_label("Location", prompt)} "{quote}"\n'
        f"{_label('Explanation', prompt)} It is not what the source says.\n"
        f"{_label('Severity', prompt)} 4\n\n{_label('Overall score', prompt)} Poor\n"
        "Explanation of the score: One grave error."
    )


def _label(name: str, prompt: str) -> str:
    """Return a label as the prompt asks for it: with the mark of the request, if it has one."""
    mark = re.search(r"^Overall score( \(\w+\)): <", prompt, re.MULTILINE)
    return f"{name}{mark[1] if mark else ''}:"
