"""A judging model on a bad day: a share of its answers goes wrong, in every way there is.

What it says of a text follows from the text alone, so that a score which belongs to another
text is seen to be wrong. Whether an answer goes wrong follows from the text and from how
often it was asked about, so that a run meets the same faults in whatever order it asks.
"""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from hashlib import sha256

from loopback.answers import EMPTY_CHOICES, HTML, RESET_HALF, STALL, TRICKLE, Answer, chat, failure
from loopback.server import LoopbackServer, Received

from spanjury.judges.core import Scale

_WORD = re.compile(r"Text \d+ ends in ([0-9a-f]{16})\.")


class Kind(Enum):
    """Kinds of answers."""

    FINE = auto()
    OTHER_MODEL = auto()
    """As good as any, but said to come from a model of another name."""
    RATE_LIMIT = auto()
    RATE_LIMIT_WITH_WAIT = auto()
    BROKEN = auto()
    OVERLOADED = auto()
    RESET = auto()
    STALL = auto()
    DRIP = auto()
    INVALID_JSON = auto()
    TORN_UTF8 = auto()
    NO_CHOICE = auto()
    HTML = auto()
    NO_MODEL = auto()
    PROSE = auto()


WHOLE = frozenset({Kind.FINE, Kind.OTHER_MODEL})
"""The kinds that hold a review."""

_SLOW = (Kind.STALL, Kind.DRIP)
_QUICK = tuple(kind for kind in Kind if kind not in {Kind.FINE, *_SLOW})
_FIXED: Mapping[Kind, Answer] = {
    Kind.RATE_LIMIT: failure(429),
    Kind.RATE_LIMIT_WITH_WAIT: failure(429, retry_after="0.01"),
    Kind.BROKEN: failure(500),
    Kind.OVERLOADED: failure(503),
    Kind.RESET: RESET_HALF,
    Kind.STALL: STALL,
    Kind.DRIP: TRICKLE,
    Kind.NO_CHOICE: EMPTY_CHOICES,
    Kind.HTML: HTML,
    Kind.NO_MODEL: failure(404, "The model `judge` does not exist."),
    Kind.PROSE: chat("I like it."),
}
_SPOILT: Mapping[Kind, Callable[[str], str]] = {
    Kind.FINE: lambda body: body,
    Kind.OTHER_MODEL: lambda body: json.dumps({**json.loads(body), "model": "another"}),
    Kind.INVALID_JSON: lambda body: body[:-2],
    Kind.TORN_UTF8: lambda body: _torn(json.dumps(json.loads(body), ensure_ascii=False)),
}


def judged_text(number: int) -> str:
    """Return the text of a row; no two rows share the word that it ends in."""
    return f"Text {number} ends in {_digest(str(number)):016x}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Return the model's review of a text: its last word is an error."""

    word: str
    score: int
    severity: int

    @staticmethod
    def of(text: str) -> "Opinion":
        """Return the opinion of the one text that is judged in `text`."""
        (word,) = set(_WORD.findall(text))
        digest = _digest(word)
        return Opinion(word=word, score=1 + digest % 5, severity=1 + digest // 5 % 5)

    @property
    def review(self) -> str:
        """The opinion in the form that the annotator asks for."""
        return (
            f'Error 1:\nLocation: "{self.word}"\nExplanation: {self.word} is no word – really.\n'
            f"Severity: {self.severity}\n\nOverall score: {Scale().label(self.score)}\n"
            f"Explanation of the score: {self.word} is all that is wrong."
        )


class ChaosServer(LoopbackServer):
    """Review the texts of `judged_text`, and do worse for a share of the requests.

    It answers while `may_answer` is set, as it is at first.

    Parameters
    ----------
    share
        The share of requests that are answered with a fault, 0 to 1.
    quick_per_slow
        How often a kind of fault occurs for each time that one occurs which the client
        must sit out.
    seconds
        How long it thinks before it answers.
    """

    def __init__(
        self, *, share: float = 0.0, quick_per_slow: int = 1, seconds: float = 0.0
    ) -> None:
        super().__init__(STALL)  # not given: every request has an answer of its own
        self._share = share
        self._faults = _QUICK * quick_per_slow + _SLOW
        self._seconds = seconds
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._lock_of_answered = threading.Lock()
        self._answered: dict[str, list[Kind]] = defaultdict(list)
        self._probes = 0

    @property
    def answered(self) -> Mapping[str, Sequence[Kind]]:
        """Return the answers to each text, oldest first, by its last word."""
        with self._lock_of_answered:
            return {word: tuple(kinds) for word, kinds in self._answered.items()}

    @property
    def asked(self) -> int:
        """Return how many requests came for a review."""
        with self._lock_of_answered:
            return sum(map(len, self._answered.values()))

    @property
    def probes(self) -> int:
        """Return how many requests only asked whether anybody is there."""
        with self._lock_of_answered:
            return self._probes

    def record(self, request: Received) -> Answer:
        """Return what `request` is answered with, and count it.

        A request without a text is no review: a run asks it to see whether anybody is there.
        """
        asked = json.dumps(request.body)
        if _WORD.search(asked) is None:
            return self._ready()
        opinion = Opinion.of(asked)
        with self._lock_of_answered:
            kinds = self._answered[opinion.word]
            kind = self._kind(opinion.word, time=len(kinds))
            kinds.append(kind)
        self.stopping.wait(self._seconds)
        self._wait_for_leave()
        if kind in _FIXED:
            return _FIXED[kind]
        answer = chat(opinion.review)
        return replace(answer, body=_SPOILT[kind](answer.body))

    def _ready(self) -> Answer:
        with self._lock_of_answered:
            self._probes += 1
        self._wait_for_leave()
        return chat("ready")

    def _wait_for_leave(self) -> None:
        while not (self.may_answer.wait(0.02) or self.stopping.is_set()):
            pass

    def _kind(self, word: str, *, time: int) -> Kind:
        digest = _digest(f"{word} {time}")
        if digest % 1000 >= 1000 * self._share:
            return Kind.FINE
        return self._faults[digest // 1000 % len(self._faults)]


def _digest(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def _torn(body: str) -> str:
    """End `body` in the middle of its first character that takes more bytes than one."""
    whole, _, _ = body.partition("–")
    return (whole.encode() + "–".encode()[:-1]).decode(errors="surrogateescape")
