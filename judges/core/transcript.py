"""A transcript: a trajectory as the output and the inputs of a segment.

The output is the agent's writing, its calls included; each turn of anyone else is an input. So
judges, spans, keys, results and pages treat a trajectory like any text. `Transcript` maps offsets
in the output to a turn, or to a value among the arguments of a call, and back.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core.aspect import Aspect
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan
from spanjury.judges.core.trajectory import Trajectory, Turn

INSTRUCTIONS, USER, RESULT, TOOLS = "Instructions", "User", "Result", "Tools"
"""Headers of the inputs. A turn's header also has its number, as in ``Result [4]``."""

_BREAK = "\n\n"
_HEADERS: Mapping[str, str] = {"system": INSTRUCTIONS, "user": USER, "tool": RESULT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position in a trajectory.

    Parameters
    ----------
    turn
        Number of the turn, from 1.
    call
        Number of the call within the turn, from 1; 0 for the turn's text.
    path
        JSON path of a value among the call's arguments, such as ``$.guests[0].name``; ``$`` for
        the arguments as a whole, and empty for the name of the tool or the turn's text.
    start, end
        Half-open offsets in code points of the turn's text, the tool's name, or the JSON value,
        without the quotation marks of a string.
    """

    turn: int
    call: int = 0
    path: str = ""
    start: int
    end: int

    def __str__(self) -> str:
        """Describe the position for people, as in ``turn 3, call 1, $.date``."""
        call = f", call {self.call}" if self.call else ""
        return f"turn {self.turn}{call}{f', {self.path}' if self.path else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a transcript: `position` is at ``text[start:end]``; parts may be nested."""

    position: Position
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The agent's writing as one text, with the offsets of each part of it.

    Parameters
    ----------
    text
        A line ``Turn 3:`` before each turn of the agent, its text, and a line
        ``call NAME {ARGUMENTS}`` for each call.
    parts
        The parts in order of position; a part comes before those that it contains.
    """

    text: str
    parts: tuple[Part, ...]

    def position_of(self, start: int, end: int) -> Position | None:
        """Return the position of ``text[start:end]``: in the smallest part that contains it.

        If no part contains all of it, the smallest part that it overlaps counts, and the position
        is cut to this part. None if it overlaps no part, as the line before a turn does not.
        """
        overlapping = [part for part in self.parts if part.start < end and start < part.end]
        holding = [part for part in overlapping if part.start <= start and end <= part.end]
        chosen = min(holding or overlapping, key=lambda part: part.end - part.start, default=None)
        if chosen is None:
            return None
        return replace(
            chosen.position,
            start=max(start, chosen.start) - chosen.start,
            end=min(end, chosen.end) - chosen.start,
        )

    def interval(self, turn: int, call: int = 0, path: str = "") -> tuple[int, int] | None:
        """Return the half-open offsets of a part of the text; None if there is none."""
        return next(
            (
                (part.start, part.end)
                for part in self.parts
                if (part.position.turn, part.position.call, part.position.path)
                == (turn, call, path)
            ),
            None,
        )


def transcript(trajectory: Trajectory) -> Transcript:
    """Return the agent's writing in `trajectory` as one text, with the offsets of its parts."""
    return _TRANSCRIPTS.of(trajectory)


def transcript_of(segment: Segment) -> Transcript | None:
    """Return the transcript that is the output of `segment`; None if the output is another text."""
    if segment.trajectory is None:
        return None
    whole = transcript(segment.trajectory)
    return whole if whole.text == segment.output else None


def position_in(segment: Segment, span: ErrorSpan) -> Position | None:
    """Return the position of `span` in the trajectory of `segment`; None if it has none."""
    if segment.trajectory is None or span.interval is None:
        return None
    whole = transcript_of(segment)
    return None if whole is None else whole.position_of(*span.interval)


def searched_first(segment: Segment, aspect: Aspect) -> tuple[tuple[int, int], ...]:
    """Return the half-open offsets of parts of the output, in the order of a search for a quote.

    Words that occur several times in a transcript are most likely meant where the aspect looks:
    in the calls for what an agent did, in its words for what it said. The last turn comes first,
    since earlier turns were judged when they were the last. Empty if the output is another text.
    """
    whole = transcript_of(segment)
    of_calls = aspect.kind == "action" and not aspect.of_answers
    parts = [part for part in whole.parts if part.position.path in {"", "$"}] if whole else []
    parts.sort(key=lambda part: (bool(part.position.call) is not of_calls, -part.start))
    return tuple((part.start, part.end) for part in parts)


def edited_trajectory(trajectory: Trajectory, edits: Sequence[tuple[int, int, str]]) -> Trajectory:
    """Return `trajectory` with some parts of its transcript replaced.

    A string among arguments is replaced by a string. Any other value is replaced by the new text
    read as JSON, by a string if it is not JSON, and by null if it is empty. Edits outside of turns
    are ignored.

    Parameters
    ----------
    edits
        Half-open offsets in the transcript with the new text, in order and without overlap.
    """
    written = transcript(trajectory)
    turns = list(trajectory.turns)
    begun: set[tuple[int, int]] = set()
    for start, end, text in reversed(edits):  # so that the offsets before an edit still hold
        position = written.position_of(start, end)
        if position is None:
            continue
        index, number = position.turn - 1, position.call - 1
        turn = turns[index]
        if not position.call:
            turns[index] = replace(turn, text=_put(turn.text, (position.start, position.end), text))
            continue
        call = turn.calls[number]
        if not position.path:
            call = replace(call, name=_put(call.name, (position.start, position.end), text))
        else:
            first, last = written.interval(position.turn, position.call, "$") or (0, 0)
            interval = written.interval(position.turn, position.call, position.path) or (0, 0)
            own = call.arguments if (index, number) in begun else written.text[first:last]
            begun.add((index, number))
            if written.text[interval[0] - 1] == '"':
                at = interval[0] - first
                value = json.dumps(text, ensure_ascii=False)[1:-1]
                own = _put(own, (at + position.start, at + position.end), value)
            else:
                own = _put(own, (interval[0] - first, interval[1] - first), _as_json(text))
            call = replace(call, arguments=own)
        calls = (*turn.calls[:number], call, *turn.calls[number + 1 :])
        turns[index] = replace(turn, calls=calls)
    return replace(trajectory, turns=tuple(turns))


def _put(text: str, interval: tuple[int, int], new: str) -> str:
    start, end = interval
    return f"{text[:start]}{new}{text[end:]}"


def _as_json(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(text, ensure_ascii=False) if text.strip() else "null"
    return text


def segment_of(trajectory: Trajectory, segment: Segment | None = None) -> Segment:
    """Return a segment whose output and inputs are those of `trajectory`; other fields stay.

    The task is ``agent`` if `segment` names none.
    """
    base = segment or Segment(output="", segment_id="-")
    return replace(
        base,
        segment_id=segment.segment_id if segment else "",
        output=transcript(trajectory).text,
        inputs=inputs_of(trajectory),
        task=base.task or "agent",
        trajectory=trajectory,
    )


def inputs_of(trajectory: Trajectory) -> dict[str, str]:
    """Return the inputs, header -> text: the turns of all but the agent, and the tools."""
    inputs = {
        header_of(turn, number): _given(trajectory, number)
        for number, turn in enumerate(trajectory.turns, 1)
        if turn.role != "assistant"
    }
    if trajectory.tools:
        inputs[TOOLS] = "\n".join(
            f"{tool.name}: {tool.description} "
            + json.dumps(tool.parameters, ensure_ascii=False, default=dict)
            for tool in trajectory.tools
        )
    return inputs


def replies(trajectory: Trajectory) -> tuple[int, ...]:
    """Return the numbers of the agent's turns that speak to the user: text without calls."""
    return tuple(
        number
        for number, turn in enumerate(trajectory.turns, 1)
        if turn.role == "assistant" and turn.text and not turn.calls
    )


def header_of(turn: Turn, number: int) -> str:
    """Return the header of the input that turn `number`, which is not the agent's, becomes."""
    return f"{_HEADERS[turn.role]} [{number}]"


def turn_of(header: str) -> int | None:
    """Return the number of the turn that is the input under `header`; None if it is not a turn."""
    name, bracket, rest = header.partition(" [")
    number = rest.removesuffix("]")
    is_turn = bracket and name in _HEADERS.values() and number.isdecimal()
    return int(number) if is_turn else None


def json_leaves(value: object, path: str = "$") -> Iterator[tuple[str, object]]:
    """Yield path and value of every leaf in `value`, in order.

    An empty list or object is a leaf.

    Examples
    --------
    >>> list(json_leaves({"who": ["Ann"], "on": None}))
    [('$.who[0]', 'Ann'), ('$.on', None)]
    """
    inner = _children(value, path)
    if not inner:
        yield path, value
    for child, content in inner:
        yield from json_leaves(content, child)


def _children(value: object, path: str) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [
            (f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]", content)
            for key, content in zip(map(str, value), value.values(), strict=True)
        ]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [(f"{path}[{number}]", content) for number, content in enumerate(value)]
    return []


def _given(trajectory: Trajectory, number: int) -> str:
    turn = trajectory.turns[number - 1]
    call = trajectory.caller_of(number)
    name = turn.name or (call.name if call else "")
    if turn.role != "tool" or not (name or turn.failed):
        return turn.text
    return f"{name}{' failed' if turn.failed else ''}: {turn.text}".removeprefix(" ")


class _Writer:
    """Writes a transcript, and records the offsets of each part."""

    def __init__(self) -> None:
        self._written: list[str] = []
        self._length = 0
        self.parts: list[Part] = []

    @property
    def text(self) -> str:
        return "".join(self._written)

    def write(self, text: str) -> None:
        self._written.append(text)
        self._length += len(text)

    def part(self, text: str, *, turn: int, call: int = 0, path: str = "") -> None:
        start = self._length
        self.write(text)
        self._add(start, turn=turn, call=call, path=path)

    def arguments(self, text: str, *, turn: int, call: int) -> None:
        """Write arguments as JSON with a part for each value; write unreadable ones verbatim."""
        try:
            value = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            self.part(text, turn=turn, call=call, path="$")
            return
        self._value(value, "$", turn=turn, call=call)

    def _value(self, value: object, path: str, *, turn: int, call: int) -> None:
        inner = _children(value, path)
        if isinstance(value, str):
            self.write('"')
            self.part(json.dumps(value, ensure_ascii=False)[1:-1], turn=turn, call=call, path=path)
            self.write('"')
        elif not inner:
            text = json.dumps(value, ensure_ascii=False)
            self.part(text, turn=turn, call=call, path=path)
        else:
            start = self._length
            index = len(self.parts)
            keys = [""] * len(inner)
            if isinstance(value, Mapping):
                keys = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
            opening, closing = "{}" if isinstance(value, Mapping) else "[]"
            self.write(opening)
            for number, (key, (child, content)) in enumerate(zip(keys, inner, strict=True)):
                self.write((", " if number else "") + key)
                self._value(content, child, turn=turn, call=call)
            self.write(closing)
            self._add(start, turn=turn, call=call, path=path, index=index)

    def _add(
        self, start: int, *, turn: int, call: int, path: str, index: int | None = None
    ) -> None:
        end = self._length
        if start == end:
            return
        position = Position(turn=turn, call=call, path=path, start=0, end=end - start)
        part = Part(position=position, start=start, end=end)
        self.parts.insert(len(self.parts) if index is None else index, part)


def _transcript(trajectory: Trajectory) -> Transcript:
    writer = _Writer()
    for number, turn in enumerate(trajectory.turns, 1):
        if turn.role != "assistant":
            continue
        writer.write(f"{_BREAK if writer.parts else ''}Turn {number}:")
        if turn.text:
            writer.write("\n")
            writer.part(turn.text, turn=number)
        for count, call in enumerate(turn.calls, 1):
            writer.write("\ncall ")
            writer.part(call.name, turn=number, call=count)
            writer.write(" ")
            writer.arguments(call.arguments, turn=number, call=count)
    return Transcript(text=writer.text, parts=tuple(writer.parts))


_TRANSCRIPTS = IdentityCache[Trajectory, Transcript](_transcript)
