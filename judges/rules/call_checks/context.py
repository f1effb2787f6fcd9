"""Context: everything that an agent could know at a turn, and the records in results."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from spanjury.judges.core import Evidence, ToolCall, ToolSpec
from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import TOOLS, inputs_of, json_leaves, turn_of
from spanjury.judges.rules.call_checks.tool_names import is_action, is_reading
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import name_words

_SHORTEST_SLIP = 4  # minimum characters of an id whose similarity to another is no coincidence
_TOKEN = re.compile(r"[^\s\"'“”‘’`,;(){}\[\]<>|*]+")
_EDGE = ".:!?#…"
_GREATEST = 1e100  # number beyond which, or one by which, products of three overflow
_LONGEST = 5  # maximum tokens of a value that is written with spaces, such as an address
_BROKEN = re.compile(
    r"^\s*(?:error\b|\w*(?:error|exception)\b ?[:(]|[45]\d\d\b|failed\b|failure\b|timeout\b"
    r"|traceback\b|rejected\b|declined\b|refused\b|denied\b|invalid\b|cannot\b|could not\b"
    r"|insufficient\b|not (?:allowed|permitted|possible|valid)\b)"
    r"|\b(?:bad gateway|timed out|not found|service unavailable|internal server error"
    r"|permission denied|access denied|unauthori[sz]ed|forbidden|too many requests)\b",
    re.IGNORECASE,
)
_BROKEN_STATES = frozenset(("error", "failure"))
_BAD_STATES = frozenset(("failed", "rejected", "declined", "denied", "refused", "invalid"))
"""States that something a tool looks up may also have."""
_STATES = ("status", "state", "result")
_ERRORS = ("error", "errors", "exception")
_DONE = ("ok", "success", "succeeded", "is_success")
_HTTP = ("status", "status_code", "statuscode", "http_status")
_HTTP_ERRORS = re.compile(r"[45]\d\d")
_FLAGS = ("iserror", "is_error", "failed", "failure")
_NOTES = ("message", "detail", "body", "reason")
_OF_NOTES = frozenset((*_NOTES, *_HTTP, "code", "type", "timestamp", "request_id", "path"))
"""Fields of an object that holds nothing but a message."""
_ENVELOPES = ("data", "result", "response", "output", "body", "payload")
"""Fields of a result that hold another."""
_LISTS = (*_ENVELOPES, "results", "responses", "items")
_NO_DATA = _OF_NOTES.union(_STATES, _ERRORS, _DONE, _FLAGS, _LISTS)
_DEEPEST = 3  # number of results within each other that are read
_LONGEST_NOTE = 200  # characters of a message that say whether it is about an error
_ERROR_CODE = re.compile(r"error_?(?:code|message)$|[a-z]_?error$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An object of a list in a result, as values by key; `group` identifies the list."""

    group: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The turns before a turn.

    Parameters
    ----------
    sources
        Header -> text of the turns of others, as in the inputs of the segment.
    own
        Texts that the agent itself wrote before, including arguments.
    replies
        Those of them that are no arguments.
    called
        The arguments of its calls before, if they are JSON objects.
    asked
        Texts of the user, in order.
    records
        Objects of the lists in the results.
    objects
        The results that are single objects.
    """

    sources: Mapping[str, str]
    own: tuple[str, ...]
    replies: tuple[str, ...]
    called: tuple[Mapping[str, object], ...] = field(compare=False)
    asked: tuple[str, ...]
    records: tuple[Record, ...] = field(default=(), compare=False)
    objects: tuple[Mapping[str, object], ...] = field(default=(), compare=False)

    @property
    def spoken(self) -> tuple[str, ...]:
        """The texts of others that are no results: instructions and turns of the user."""
        return tuple(
            text for header, text in self.sources.items() if not header.startswith("Result")
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, those of others first."""
        return (*self.sources.values(), *self.own)

    @property
    def conversation(self) -> tuple[str, ...]:
        """Texts of user and agent, the user's first."""
        return (*self.asked, *self.replies)

    def evidence(self, token: str) -> tuple[Evidence, ...]:
        """Return the last occurrence of `token` in a source; empty if no source has it."""
        for header, text in reversed([*self.sources.items()]):
            start = text.rfind(token) if token else -1
            if start >= 0:
                end = start + len(token)
                return (Evidence(input=header, start=start, end=end, text=token),)
        return ()


def contexts(trajectory: Trajectory) -> Iterator[tuple[int, Context]]:
    """Yield the number of each turn of the agent, and the context before it."""
    inputs = inputs_of(trajectory)
    inputs.pop(TOOLS, None)
    records: list[Record] = []
    objects: list[Mapping[str, object]] = []
    for number, turn in enumerate(trajectory.turns, 1):
        if turn.role == "tool" and not is_failure(trajectory, number):
            records += _records(turn.text, first=len(records))
            value = parsed(turn.text)
            objects += [value] if isinstance(value, Mapping) else []
        if turn.role != "assistant":
            continue
        before = trajectory.turns[: number - 1]
        own = [earlier for earlier in before if earlier.role == "assistant"]
        calls = (arguments_of(call) for earlier in own for call in earlier.calls)
        yield (
            number,
            Context(
                sources={
                    header: text
                    for header, text in inputs.items()
                    if (turn_of(header) or 0) < number
                },
                own=tuple(
                    text
                    for earlier in own
                    for text in (earlier.text, *(call.arguments for call in earlier.calls))
                    if text
                ),
                replies=tuple(earlier.text for earlier in own if earlier.text),
                called=tuple(arguments for arguments in calls if arguments is not None),
                asked=tuple(earlier.text for earlier in before if earlier.role == "user"),
                records=tuple(records),
                objects=tuple(objects),
            ),
        )


def tool_of(trajectory: Trajectory, call: ToolCall) -> ToolSpec | None:
    """Return the tool that `call` names; None if there is none with this name."""
    return next((tool for tool in trajectory.tools if tool.name == call.name), None)


def arguments_of(call: ToolCall) -> Mapping[str, object] | None:
    """Return the arguments of `call`; None if they are not a JSON object."""
    try:
        value = json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def parsed(text: str) -> object:
    r"""Parse a result as JSON, or as rows below a header; return the text if it is neither.

    Examples
    --------
    >>> parsed("day;high\nMon;7\nTue;9")
    [{'day': 'Mon', 'high': 7}, {'day': 'Tue', 'high': 9}]
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return [*_rows(text)] or text


def _rows(text: str) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a text of comma-separated values, or with another separator."""
    lines = [line.strip().strip("|") for line in text.strip().splitlines()]
    mark = next((mark for mark in "\t;|," if mark in lines[0]), "") if len(lines) > 2 else ""  # noqa: PLR2004
    if not mark or {line.count(mark) for line in lines} != {lines[0].count(mark)}:
        return
    header, *cells = ([cell.strip() for cell in line.split(mark)] for line in lines)
    if all(re.fullmatch(r"[^\W\d][\w .()/-]{0,30}", name) for name in header):
        for row in cells:
            yield {name: _cell(cell) for name, cell in zip(header, row, strict=True)}


def _cell(text: str) -> object:
    return json.loads(text) if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", text) else text


def is_failure(trajectory: Trajectory, number: int) -> bool:
    """Return whether the tool's turn of this number reports an error.

    Errors and states within the data that a tool looks up are those of the data.
    """
    turn = trajectory.turns[number - 1]
    if turn.role != "tool":
        return False
    value = parsed(turn.text)
    if turn.failed:
        return True
    if isinstance(value, str):
        return bool(_BROKEN.search(value[:_LONGEST_NOTE]))
    call = trajectory.caller_of(number)
    reads = call is None or is_reading(call.name)
    parts = [(part, reads and _carries_data(part, call)) for part in enveloped(value)]
    if not parts:
        return False
    (outer, has_data), *inner = parts
    verbs = {*map(stem, name_words(call.name))} if call else set()
    return (
        _reports_error(outer, has_data=has_data)
        or any(leaf is False and stem(key) in verbs for key, leaf in outer.items())
        or any(_reports_error(part, has_data=False) for part, is_data in inner if not is_data)
    )


def has_failed_part(trajectory: Trajectory, number: int) -> bool:
    """Return whether a result of an action lists several, one of which reports an error."""
    call, value = trajectory.caller_of(number), parsed(trajectory.turns[number - 1].text)
    if call is None or not is_action(call.name) or is_reading(call.name):
        return False
    lists = [value, *(part.get(key) for part in enveloped(value) for key in _LISTS)]
    return any(
        isinstance(item, Mapping) and _reports_error(item, has_data=False)
        for items in lists
        if isinstance(items, list)
        for item in items
    )


def enveloped(value: object) -> Iterator[Mapping[str, object]]:
    """Yield a result, if it is an object, and those that its envelopes hold."""
    layer = [value]
    for _ in range(_DEEPEST):
        objects = [part for part in layer if isinstance(part, Mapping)]
        yield from objects
        layer = [part.get(key) for part in objects for key in _ENVELOPES]


def _carries_data(value: Mapping[str, object], call: ToolCall | None) -> bool:
    """Return whether a result has a field beyond messages, states and arguments of the call."""
    given = [*((call and arguments_of(call)) or {}).values()]
    return any(
        str(key).casefold() not in _NO_DATA and leaf is not None and leaf not in given
        for key, leaf in value.items()
    )


def _reports_error(value: Mapping[str, object], *, has_data: bool) -> bool:
    """Return whether a result is an error's; a state beside data may be that of the data."""
    if any(value.get(key) for key in _ERRORS):
        return True
    if any(str(value.get(key, True)).casefold() == "false" for key in _DONE):
        return True
    states = {str(value.get(key, "")).casefold() for key in _STATES}
    if states & _BROKEN_STATES or (states & _BAD_STATES and not has_data):
        return True
    by_name = {str(key).casefold(): leaf for key, leaf in value.items()}
    return (
        any(by_name.get(flag) is True for flag in _FLAGS)
        or any(_HTTP_ERRORS.fullmatch(str(by_name.get(key))) for key in _HTTP)
        or any(
            isinstance(leaf, str) and leaf
            for key, leaf in by_name.items()
            if _ERROR_CODE.search(key)
        )
        or (by_name.keys() <= _OF_NOTES and _tells_of_error(by_name))
    )


def _tells_of_error(by_name: Mapping[str, object]) -> bool:
    """Return whether the code or the message of an object without other fields is an error's."""
    notes = [str(by_name[key])[:_LONGEST_NOTE] for key in _NOTES if key in by_name]
    return bool(_HTTP_ERRORS.fullmatch(str(by_name.get("code")))) or any(map(_BROKEN.search, notes))


def is_usable(number: float) -> bool:
    """Return whether one can compute with a number: not NaN, infinite, or extremely large."""
    return number == 0 or 1 / _GREATEST < abs(number) < _GREATEST


def number_of(leaf: object) -> float | None:
    """Return a number of JSON; None for any other value, and for a number that is not usable.

    Examples
    --------
    >>> number_of(3), number_of(True), number_of(10**400), number_of(float("nan"))
    (3.0, None, None, None)
    """
    if isinstance(leaf, bool) or not isinstance(leaf, int | float) or not is_usable(leaf):
        return None
    return float(leaf)


def squeezed(text: str) -> str:
    """Return only the letters and digits of `text`, case-folded."""
    return "".join(filter(str.isalnum, text)).casefold()


@lru_cache(maxsize=256)
def tokens_of(text: str) -> frozenset[str]:
    """Return the squeezed tokens of a text, and those of up to five consecutive tokens."""
    singles = [squeezed(token) for token in _TOKEN.findall(text)]
    rows = {
        "".join(singles[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(singles) - length + 1)
    }
    return frozenset(rows)


@lru_cache(maxsize=4)  # a value is looked up many times, and long texts have many tokens
def tokens_in(texts: tuple[str, ...]) -> frozenset[str]:
    """Return the `tokens_of` all texts."""
    return frozenset[str]().union(*map(tokens_of, texts))


@lru_cache(maxsize=256)
def raw_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as written, without the marks at their edges."""
    return tuple(filter(None, (token.strip(_EDGE) for token in _TOKEN.findall(text))))


def shape_of(token: str) -> str:
    """Return a token with an a for each letter and a 9 for each digit.

    Examples
    --------
    >>> shape_of("KT-209")
    'aa-999'
    """
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", token))


def slip(value: str, tokens: Collection[str]) -> str | None:
    """Return the token that differs from `value` by a swap of two characters, or in one character.

    Of several, it is the first in the order of their characters. `value` contains a digit.
    Consecutive numbers, such as page numbers, differ in their last character, so a single other
    character counts only before it.

    Examples
    --------
    >>> slip("ab12", ["ab21"]), slip("ab1240", ["ab1241"]), slip("ab1240", ["ab1340"])
    ('ab21', None, 'ab1340')
    """
    if len(value) < _SHORTEST_SLIP or not any(map(str.isdigit, value)):
        return None
    for token in sorted(token for token in tokens if len(token) == len(value) and token != value):
        differing = [n for n, pair in enumerate(zip(value, token, strict=True)) if len({*pair}) > 1]
        is_swap = (
            len(differing) == 2  # noqa: PLR2004
            and value[differing[0]] == token[differing[1]]
            and value[differing[1]] == token[differing[0]]
        )
        is_other = (
            len(differing) == 1 and differing[0] < len(value) - 1 and len(value) > _SHORTEST_SLIP
        )
        if is_swap or is_other:
            return token
    return None


def abbreviates(code: str, text: str) -> bool:
    """Return whether a name begins with a code's first letter and has the others in order.

    Examples
    --------
    >>> abbreviates("VN", "chairs from Vietnam"), abbreviates("CRK", "in Cork")
    (True, True)
    """
    pattern = r"\b" + r"\w*".join(map(re.escape, code))
    return re.search(pattern, text, re.IGNORECASE) is not None


def _records(text: str, *, first: int) -> Iterator[Record]:
    """Yield the objects of each list of two or more objects in a result."""
    for offset, siblings in enumerate(_lists(parsed(text))):
        for item in siblings:
            values = {path: value for path, value in json_leaves(item) if value is not None}
            yield Record(group=first * 100 + offset, values=values)


def _lists(value: object) -> Iterator[Sequence[Mapping[str, object]]]:
    for part in containers(value):
        if isinstance(part, list):
            items = [item for item in part if isinstance(item, Mapping)]
        else:
            items = [
                {"name": key, **item} for key, item in part.items() if isinstance(item, Mapping)
            ]
            items = items if len({frozenset(item) for item in items}) == 1 else []
        if len(items) >= 2:  # noqa: PLR2004
            yield items


def containers(value: object) -> Iterator[list[object] | Mapping[str, object]]:
    """Yield each list and each object in a value of JSON, outer ones first."""
    held: Iterable[object] = ()
    if isinstance(value, list):
        yield value
        held = value
    elif isinstance(value, Mapping):
        yield value
        held = value.values()
    for item in held:
        yield from containers(item)
