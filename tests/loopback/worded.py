"""A server that answers by the words of the request."""

import json
from collections.abc import Mapping

from loopback.answers import Answer
from loopback.server import LoopbackServer, Received


class WordedServer(LoopbackServer):
    """Give the first answer whose words the request holds, all of them; else the last answer.

    Words are parts of texts joined by ``&``.
    """

    def __init__(self, answers: Mapping[str, Answer], *, otherwise: Answer) -> None:
        super().__init__(otherwise)
        self._worded = answers

    def record(self, request: Received) -> Answer:
        otherwise = super().record(request)
        asked = json.dumps(request.body["messages"], ensure_ascii=False)
        for words, answer in self._worded.items():
            if all(word in asked for word in words.split("&")):
                return answer
        return otherwise
