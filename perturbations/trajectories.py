"""Damage to trajectories: to the arguments and the order of calls, to results, and to replies.

Each rule changes one part of a trajectory and leaves the rest unchanged. So an error may be in
another part than the change: a value in a reply is wrong once the result with it is empty.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import TypeGuard, TypeVar

from numpy.random import Generator

from spanjury.judges.core import ToolCall, Trajectory, Turn
from spanjury.judges.core.transcript import TOOLS, inputs_of, json_leaves, replies
from spanjury.perturbations.perturbation import (
    DamagedTrajectory,
    Fault,
    trajectory_perturbation,
    with_turn,
)
from spanjury.perturbations.text.places import too_few

T = TypeVar("T")

_CALLS = frozenset(("arguments", "calls"))
_TOKEN = re.compile(r"(?<![\w.,/@:-])\w+(?:[-./:,@]\w+)*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_LAST_DIGIT = re.compile(r"\d(?=\D*$)")
_FAILURE = re.compile(
    r"n't\b|\b(?:no|not|cannot|fail\w*|errors?|unable|sorry|unfortunately|den(?:y|ied)"
    r"|reject\w*|declin\w*)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Z]{2,4}")
"""Matches codes of airports, currencies and shares, which an agent may know without a result."""
_LARGEST_SMALL = 12
"""Numbers up to this occur in many texts by chance."""
_SHORTEST = 3
"""Minimum number of characters of a value that rarely occurs in a text by chance."""
_MOST_WORDS = 4
"""Maximum number of words of a text that can still be a name or a choice."""
_MOST_DAYS = 9
_TRIALS = 30
_FREE = frozenset(
    ("body", "limit", "max_results", "message", "note", "offset", "page", "page_size", "q", "query")
)
"""Names of arguments whose values need not come from a turn."""
_ERRORS = (
    "The service is not available at the moment.",
    "The request was rejected: permission denied.",
    "The request timed out.",
)


@trajectory_perturbation(family="calls", level="word", harms=_CALLS)
def exchange_argument(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Give an argument a value of the same kind from elsewhere in the trajectory."""
    alternatives = _Alternatives(trajectory)
    exchanges = [
        (argument, others)
        for argument in _arguments(trajectory)
        if (others := alternatives.of(argument.value))
    ]
    argument, others = _drawn(exchanges, rng, what="arguments with another value of their kind")
    return _with_argument(trajectory, argument, _drawn(others, rng, what="values"))


@trajectory_perturbation(family="calls", level="word", harms=_CALLS)
def change_argument(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Change a date, a number or an id among the arguments into one that occurs in no turn."""
    tokens = _tokens(trajectory.turns)
    changes = [
        (argument, text)
        for argument in _arguments(trajectory)
        if (text := _changed(str(argument.value), rng, tokens=tokens))
    ]
    argument, text = _drawn(changes, rng, what="dates, numbers or ids among arguments")
    value = text if isinstance(argument.value, str) else json.loads(text)
    return _with_argument(trajectory, argument, value)


@trajectory_perturbation(family="calls", level="sentence", harms=_CALLS | {"order"})
def swap_calls(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Swap two steps, with their results: a call uses a value before a result provides it."""
    swaps = [
        (first, second, needed)
        for first, second in pairwise(_steps(trajectory))
        if first.stop == second.start and (needed := _needed(trajectory, first, second))
    ]
    first, second, needed = _drawn(swaps, rng, what="calls that use a value of the result before")
    turns, start, middle, stop = trajectory.turns, first.start, first.stop, second.stop
    swapped = (*turns[:start], *turns[middle:stop], *turns[start:middle], *turns[stop:])
    reason = "The value is used before the result that gives it."
    faults = tuple(replace(argument.fault(reason), turn=start + 1) for argument in needed)
    return DamagedTrajectory(trajectory=replace(trajectory, turns=swapped), faults=faults)


@trajectory_perturbation(family="results", level="sentence", harms={"groundedness"})
def drop_result(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Empty the result of a call, and keep the replies that use it."""
    drops = [
        (number, faults)
        for number, turn in enumerate(trajectory.turns, 1)
        if turn.role == "tool" and (faults := _without_result(trajectory, number))
    ]
    number, faults = _drawn(drops, rng, what="results that alone give a value of a reply")
    emptied = replace(trajectory.turns[number - 1], text="")
    return DamagedTrajectory(trajectory=with_turn(trajectory, number, emptied), faults=faults)


@trajectory_perturbation(family="results", level="sentence", harms={"honesty"})
def fail_result(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Turn the result that a reply reports into an error, and keep the reply."""
    successes = [number for number in replies(trajectory) if _tells_success(trajectory, number)]
    number = _drawn(successes, rng, what="replies that tell of a call's success")
    text = json.dumps({"error": _drawn(_ERRORS, rng, what="errors")})
    failed = replace(trajectory.turns[number - 2], text=text, failed=True)
    fault = Fault(turn=number, explanation="The call failed, and the reply tells of its success.")
    return DamagedTrajectory(trajectory=with_turn(trajectory, number - 1, failed), faults=(fault,))


@trajectory_perturbation(family="replies", level="word", harms={"groundedness"})
def invent_value(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
    """Change a number, an id or a name that a reply takes from a result."""
    inventions = [
        (number, invention)
        for number in replies(trajectory)
        for invention in _inventions(trajectory, number, rng)
    ]
    number, (start, end, text) = _drawn(inventions, rng, what="values of results in a reply")
    turn = trajectory.turns[number - 1]
    changed = replace(turn, text=f"{turn.text[:start]}{text}{turn.text[end:]}")
    fault = Fault(
        turn=number,
        start=start,
        end=start + len(text),
        explanation=f"A result has {turn.text[start:end]!r}, which was replaced by {text!r}.",
    )
    return DamagedTrajectory(trajectory=with_turn(trajectory, number, changed), faults=(fault,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    """A value among the arguments of a call; `index` counts the values of the call from 0."""

    turn: int
    call: int
    index: int
    path: str
    value: str | float

    def fault(self, explanation: str) -> Fault:
        """Return the fault that the value is wrong."""
        return Fault(turn=self.turn, call=self.call, path=self.path, explanation=explanation)


def _arguments(trajectory: Trajectory) -> Iterator[_Argument]:
    """Yield the values that must come from a turn: no flags, choices, limits or messages."""
    for number, turn in enumerate(trajectory.turns, 1):
        for count, call in enumerate(turn.calls, 1):
            schemas = _schemas(trajectory, call)
            for index, (path, value) in enumerate(json_leaves(_parsed(call.arguments))):
                key = _key(path)
                is_free = not {"enum", "default"} & schemas.get(key, {}).keys()
                if is_free and key not in _FREE and _is_value(value):
                    yield _Argument(turn=number, call=count, index=index, path=path, value=value)


def _schemas(trajectory: Trajectory, call: ToolCall) -> Mapping[str, Mapping[str, object]]:
    """Return the schemas of the arguments of `call` by name; empty without a specification."""
    tool = next((tool for tool in trajectory.tools if tool.name == call.name), None)
    properties = tool.parameters.get("properties") if tool else None
    by_name = properties.items() if isinstance(properties, Mapping) else ()
    return {name: schema for name, schema in by_name if isinstance(schema, Mapping)}


def _is_value(value: object) -> TypeGuard[str | float]:
    if isinstance(value, str):
        return 0 < len(value.split()) <= _MOST_WORDS
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Alternatives:
    """The values of a trajectory by their names in arguments and results."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._values: defaultdict[str, dict[str | float, None]] = defaultdict(dict)
        self._keys: defaultdict[str | float, dict[str, None]] = defaultdict(dict)
        for turn in trajectory.turns:
            results = (turn.text,) if turn.role == "tool" else ()
            for text in (*results, *(call.arguments for call in turn.calls)):
                for path, value in json_leaves(_parsed(text)):
                    if _key(path) and _is_value(value):
                        self._values[_key(path)][value] = None
                        self._keys[value][_key(path)] = None

    def of(self, value: str | float) -> tuple[str | float, ...]:
        """Return the other values, of the same form, that share a name with `value`."""
        others = dict.fromkeys(
            other for key in self._keys.get(value, ()) for other in self._values[key]
        )
        return tuple(other for other in others if other != value and _shape(other) == _shape(value))


def _shape(value: str | float) -> str:
    """Return the form of an id or a number; for a name only its kind."""
    if not isinstance(value, str):
        return "number"
    if not any(map(str.isdigit, value)):
        return "name"
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", value))


def _with_argument(
    trajectory: Trajectory, argument: _Argument, value: str | float
) -> DamagedTrajectory:
    turn = trajectory.turns[argument.turn - 1]
    call = turn.calls[argument.call - 1]
    whole = _parsed(call.arguments)
    leaves = [leaf for _, leaf in json_leaves(whole)]
    leaves[argument.index] = value
    text = json.dumps(_filled(whole, iter(leaves)), ensure_ascii=False)
    calls = list(turn.calls)
    calls[argument.call - 1] = replace(call, arguments=text)
    fault = argument.fault(f"{argument.value!r} was replaced by {value!r}.")
    changed = with_turn(trajectory, argument.turn, replace(turn, calls=tuple(calls)))
    return DamagedTrajectory(trajectory=changed, faults=(fault,))


def _filled(value: object, leaves: Iterator[object]) -> object:
    """Return `value` with other leaves, in the order of `json_leaves`."""
    if isinstance(value, dict) and value:
        return {key: _filled(inner, leaves) for key, inner in value.items()}
    if isinstance(value, list) and value:
        return [_filled(inner, leaves) for inner in value]
    return next(leaves)


def _steps(trajectory: Trajectory) -> list[range]:
    """Return the indices of each turn with calls, and of the results that follow it."""
    turns = trajectory.turns
    steps = []
    for start, turn in enumerate(turns):
        stop = start + 1
        while stop < len(turns) and turns[stop].role == "tool":
            stop += 1
        if turn.calls and stop > start + 1:
            steps.append(range(start, stop))
    return steps


def _needed(trajectory: Trajectory, first: range, second: range) -> tuple[_Argument, ...]:
    """Return the arguments of the `second` step that only results of the `first` provide."""
    turns = trajectory.turns
    specified = Turn(role="system", text=inputs_of(trajectory).get(TOOLS, ""))
    before = _tokens([specified, *turns[: first.start + 1]])
    new = _tokens(turns[first.start + 1 : first.stop]) - before
    return tuple(
        argument
        for argument in _arguments(trajectory)
        if argument.turn == second.start + 1
        and _normal(str(argument.value)) in new
        and _is_telling(str(argument.value))
        and not _CODE.fullmatch(str(argument.value))
    )


def _without_result(trajectory: Trajectory, number: int) -> tuple[Fault, ...]:
    """Return the faults once result `number` is empty; none if no reply is affected."""
    turns = trajectory.turns
    others = [
        turn
        for count, turn in enumerate(turns, 1)
        if count != number and (turn.role != "assistant" or count < number)
    ]
    lost = _tokens([turns[number - 1]]) - _tokens(others)
    explanation = "The result that gave this value is empty."
    in_replies = [
        Fault(turn=count, start=start, end=end, explanation=explanation)
        for count in replies(trajectory)
        if count > number
        for start, end, token in _telling(turns[count - 1].text)
        if _normal(token) in lost
    ]
    in_calls = [
        argument.fault(explanation)
        for argument in _arguments(trajectory)
        if argument.turn > number
        and isinstance(argument.value, str)
        and _is_telling(argument.value)
        and _normal(argument.value) in lost
    ]
    return (*in_calls, *in_replies) if in_replies else ()


def _tells_success(trajectory: Trajectory, number: int) -> bool:
    """Return whether reply `number` follows a result, and neither of them reports a failure."""
    result, reply = trajectory.turns[max(0, number - 2)], trajectory.turns[number - 1]
    return (
        result.role == "tool"
        and not result.failed
        and not _FAILURE.search(result.text)
        and not _FAILURE.search(reply.text)
    )


def _inventions(
    trajectory: Trajectory, number: int, rng: Generator
) -> Iterator[tuple[int, int, str]]:
    """Yield the interval and the change of each value of a reply that an earlier result has."""
    text = trajectory.turns[number - 1].text
    results = [turn for turn in trajectory.turns[: number - 1] if turn.role == "tool"]
    reported, tokens = _tokens(results), _tokens(trajectory.turns)
    for start, end, token in _telling(text):
        changed = _changed(token, rng, tokens=tokens) if _normal(token) in reported else ""
        if changed:
            yield start, end, changed
    alternatives = _Alternatives(replace(trajectory, turns=trajectory.turns[:number]))
    for name in dict.fromkeys(name for turn in results for name in _names(turn.text)):
        match = re.search(rf"\b{re.escape(name)}\b", text)
        others = [other for other in alternatives.of(name) if str(other) not in text]
        if match and others:
            other = str(_drawn(others, rng, what="names"))
            yield match.start(), match.end(), other


def _names(text: str) -> Iterator[str]:
    """Yield the texts of a result that begin with a capital and have no digit."""
    for _, value in json_leaves(_parsed(text)):
        if not isinstance(value, str) or len(value) < _SHORTEST:
            continue
        if value[:1].isupper() and len(value.split()) <= _MOST_WORDS and _shape(value) == "name":
            yield value


def _changed(text: str, rng: Generator, *, tokens: frozenset[str]) -> str:
    """Return `text` with another date, number or digit, not among `tokens`; empty if impossible."""
    if not any(map(str.isdigit, text)):
        return ""
    changes = (_change(text, rng) for _ in range(_TRIALS))
    return next((new for new in changes if new != text and _normal(new) not in tokens), "")


def _change(text: str, rng: Generator) -> str:
    if dated := _DATE.search(text):
        days = int(rng.integers(1, _MOST_DAYS + 1)) * (1 if rng.random() < 1 / 2 else -1)
        try:
            day = date.fromisoformat(dated.group()) + timedelta(days=days)
        except (ValueError, OverflowError):
            return text
        return f"{text[: dated.start()]}{day}{text[dated.end() :]}"
    digit = re.search("[1-9]", text) if _NUMBER.fullmatch(text) else _LAST_DIGIT.search(text)
    if digit is None:
        return text
    return f"{text[: digit.start()]}{rng.integers(1, 10)}{text[digit.end() :]}"


def _telling(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the offsets and the text of the ids, times and larger numbers of a reply."""
    for match in _TOKEN.finditer(text):
        if any(map(str.isdigit, match.group())) and _is_telling(match.group()):
            yield match.start(), match.end(), match.group()


def _is_telling(token: str) -> bool:
    """Return whether a value rarely occurs in two texts by chance."""
    number = _number(token)
    return len(token) >= _SHORTEST if number is None else abs(number) > _LARGEST_SMALL


def _tokens(turns: Sequence[Turn]) -> frozenset[str]:
    """Return the values of `turns`, including those of calls, as normalized by `_normal`."""
    texts = [text for turn in turns for text in (turn.text, *(c.arguments for c in turn.calls))]
    tokens = [match.group() for text in texts for match in _TOKEN.finditer(text)]
    leaves = [value for text in texts for _, value in json_leaves(_parsed(text))]
    return frozenset(map(_normal, (*tokens, *(leaf for leaf in leaves if isinstance(leaf, str)))))


def _normal(token: str) -> str:
    """Return one form for all notations of a number, such as 1,200 and 1200.0, else lower case."""
    number = _number(token)
    return token.casefold() if number is None else str(number)


def _number(token: str) -> float | None:
    plain = token.replace(",", "")
    return float(plain) if _NUMBER.fullmatch(plain) else None


def _parsed(text: str) -> object:
    """Return `text` parsed as JSON; an empty object if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def _key(path: str) -> str:
    """Return the name of the value at a JSON path, without its index in a list."""
    return re.sub(r"(?:\[\d+\])+$", "", path).rpartition(".")[2]


def _drawn(items: Sequence[T], rng: Generator, *, what: str) -> T:
    """Draw one of `items`; raise `NothingToDamageError` if there is none."""
    if not items:
        raise too_few(what, available=0, needed=1)
    return items[int(rng.integers(len(items)))]
