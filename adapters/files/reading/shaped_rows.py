"""Rows of a shape, read into native rows: their texts, inputs and names, and the rest as meta."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from spanjury.adapters.files.reading.foreign_values import (
    grounds_in,
    passages_of,
    question_in,
    question_of,
    references_of,
    text_of,
    turns_of,
)
from spanjury.adapters.files.reading.shapes import (
    AGENT,
    AGENT_SHAPE,
    CONVERSATION_TASKS,
    NATIVE,
    QUESTIONS,
    TRAJECTORY,
    TURNS,
    Shape,
    missing_output,
)
from spanjury.adapters.files.reading.trajectories import Conversation, conversation_in
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError
from spanjury.judges.core.passages import COLLECTIONS
from spanjury.judges.core.transcript import Transcript, inputs_of, transcript

_KEPT = ("task", "system", "human", "meta")
"""Native keys that a row of any shape may also have."""
_KEPT_BESIDE_TEXTS = (*_KEPT, "scores", "aspect", "spans", "references")
"""The same for rows that are not traces; in traces these keys have other meanings."""
_INNER_QUESTIONS = frozenset(
    {*QUESTIONS, "input", "q", "user_query", "user_question", "human_input"}
)

_TEXT_READERS = (passages_of, text_of, question_of)
"""Readers of inputs that must find a text; the others look for a conversation."""


class Reading(NamedTuple):
    """A row in our names, and the column of each name's value."""

    row: Mapping[str, object]
    taken: Mapping[str, str] = MappingProxyType({})


def whole_conversation(
    row: Mapping[str, object], *, shape: Shape | None, is_asked: bool
) -> Conversation | None:
    """Return the conversation in `row` if it is to be judged as a whole, else None.

    It is judged as a whole if the agent had tools, the row's task is in `CONVERSATION_TASKS`, or
    `is_asked`. A native row with an output text is never read as a conversation.
    """
    if shape is not None and shape.name == NATIVE and isinstance(row.get("output"), str):
        return None
    conversation = conversation_in(row)
    task = row.get("task")
    is_whole = is_asked or (isinstance(task, str) and task in CONVERSATION_TASKS)
    return conversation if conversation and (is_whole or conversation.has_tools) else None


def read_trajectory(
    row: Mapping[str, object], conversation: Conversation, *, shape: Shape | None
) -> Reading:
    """Return the native row of a row with a `conversation`; `shape` is that of its other columns.

    Errors that name a turn become spans with offsets into the transcript.

    Raises `DataError` if an error names a turn, a call or a value that does not exist.
    """
    trajectory = conversation.trajectory
    shape = AGENT_SHAPE if shape is None or shape.name == NATIVE else shape
    agent_transcript = transcript(trajectory)
    native: dict[str, object] = {
        TRAJECTORY: trajectory,
        "output": agent_transcript.text,
        "inputs": inputs_of(trajectory),
        "task": AGENT,
    }
    taken = {TRAJECTORY: "+".join(conversation.columns)}
    _add_names(shape, row, native=native, taken=taken)
    used = {*conversation.columns, *taken.values(), *shape.ids}
    if isinstance(errors := row.get("errors"), list):
        marks = row.get("spans")
        native["spans"] = [
            *(marks if isinstance(marks, list) else ()),
            *spans_of_errors(errors, agent_transcript),
        ]
        used |= {"errors", "spans"}
    return Reading({**native, **_kept(shape, row, used)}, taken)


def _add_names(
    shape: Shape, row: Mapping[str, object], *, native: dict[str, object], taken: dict[str, str]
) -> None:
    """Add references, system and id of a row to `native`, and their columns to `taken`."""
    for column, value in _values(row, shape.references):
        if column != taken.get("output") and (texts := references_of(value)):
            native["references"], taken["references"] = texts, column
            break
    for column, value in _values(row, shape.system):
        if value and isinstance(value, str):
            native["system"], taken["system"] = value, column
            break
    if parts := [str(value) for _, value in _values(row, shape.ids)]:
        native["id"] = "/".join(parts)


def spans_of_errors(errors: object, transcript: Transcript) -> list[dict[str, object]]:
    """Convert errors that name a turn to spans with offsets into `transcript`, as rows list them.

    An error has the keys of a span, and also `turn` and `call`, both counted from 1, and `path`, as
    in the field ``at`` of results. Its `text` is searched for in that part; without a text, the
    whole part is marked. An error without a turn is an omission and has no offsets.

    Raises `DataError` if the turn, call or value does not exist, or does not contain the text.
    """
    if not isinstance(errors, list) or not all(isinstance(error, Mapping) for error in errors):
        raise DataError(f"errors: got {excerpt(errors)}, expected a list of objects")
    spans = []
    for number, error in enumerate(errors):
        rest = {key: error[key] for key in error if key not in {"turn", "call", "path"}}
        if error.get("turn") is None:
            spans.append(rest)
            continue
        try:
            start, end = _interval_of(error, transcript)
        except DataError as problem:
            raise DataError(f"errors[{number}]: {problem}") from problem
        spans.append({**rest, "start": start, "end": end, "text": transcript.text[start:end]})
    return spans


def _interval_of(error: Mapping[str, object], transcript: Transcript) -> tuple[int, int]:
    turn, call, path = error["turn"], error.get("call") or 0, error.get("path") or ""
    if not (isinstance(turn, int) and isinstance(call, int) and isinstance(path, str)):
        raise DataError(f"got {excerpt(error)}, expected the numbers turn and call, and a path")
    interval = transcript.interval(turn, call or (1 if path else 0), path)
    position = f"turn {turn}{f', call {call}' if call else ''}{f', {path}' if path else ''}"
    if interval is None:
        turns = {part.position.turn for part in transcript.parts}
        hint = (
            f"the agent's turns are {', '.join(map(str, sorted(turns)))}, counted from 1"
            if turn not in turns
            else "calls are counted from 1; a path is written as $.guests[0].name"
        )
        raise DataError(f"{position} does not exist: {hint}")
    text = error.get("text")
    if not text:
        return interval
    inside = transcript.text[slice(*interval)]
    for quote in (str(text), json.dumps(str(text), ensure_ascii=False)[1:-1]):
        if (at := inside.find(quote)) >= 0:
            return interval[0] + at, interval[0] + at + len(quote)
    raise DataError(f"{position} does not contain {excerpt(text)}; it is {excerpt(inside)}")


def read_as(shape: Shape, row: Mapping[str, object]) -> Reading:
    """Return the native row of a `row` of the `shape`.

    Columns that the shape does not read are kept in ``meta``. Native columns such as ``system`` or
    ``human`` take precedence over those of the shape.

    Raises `DataError`, with advice, if the row has no text in a column of the output, or if the
    text is empty and the row reports an error.
    """
    if shape.name == NATIVE:
        return Reading(row)
    taken: dict[str, str] = {}
    native: dict[str, object] = {"output": _output(shape, row, taken)}
    if shape.task:
        native["task"] = shape.task
    inputs, own = dict(_inputs(shape, row, taken)), row.get("inputs")
    if isinstance(own, Mapping) and "inputs" not in shape.spread:  # under our names, or --column
        inputs |= own
    if inputs:
        native["inputs"] = inputs
    _add_names(shape, row, native=native, taken=taken)
    if row.get("system") is not None:  # which takes precedence
        taken.pop("system", None)
    used = {column.partition(".")[0] for column in (*taken.values(), *shape.ids)}
    return Reading({**native, **_kept(shape, row, used)}, taken)


def _kept(shape: Shape, row: Mapping[str, object], used: Collection[str]) -> dict[str, object]:
    """Return the native keys of a row that its shape does not use, and other columns as meta."""
    rest = {key: value for key, value in row.items() if value is not None and key not in used}
    native = _KEPT if shape.spread else _KEPT_BESIDE_TEXTS
    kept = {key: rest.pop(key) for key in native if key in rest}
    rest.pop("inputs", None)
    if shape.spread:  # a whole trace: its lists and objects are not about the judged text
        rest = {key: value for key, value in rest.items() if not isinstance(value, Mapping | list)}
    meta = kept.get("meta", {})
    if rest and isinstance(meta, Mapping):
        kept["meta"] = {**rest, **meta}
    return kept


def _output(shape: Shape, row: Mapping[str, object], taken: dict[str, str]) -> str:
    """Return the text of the first output column, even if null: the next may be a reference."""
    there = (name for name in shape.output if name in row or value_at(row, name) is not None)
    column = next(there, None)
    if column is None:
        raise DataError(missing_output([*row], shape=shape))
    value = value_at(row, column)
    text = shape.read(value)
    if text is None:
        advice = f": name it by --column output={column}.KEY" if isinstance(value, Mapping) else ""
        raise DataError(
            f"{column}: got {excerpt(value)}, expected a text (shape {shape.name}){advice}"
        )
    if not text and (error := row.get("error")):
        raise DataError(f"{column} is empty, because the row reports an error: {excerpt(error)}")
    taken["output"] = column
    return text


def _inputs(
    shape: Shape, row: Mapping[str, object], taken: dict[str, str]
) -> Iterator[tuple[str, object]]:
    """Yield name and text, or passages, of each input; the first of a name is used.

    Raises `DataError` if the value of a declared column cannot be read, and no other column has
    the input.
    """
    yielded: set[str] = set()
    spread = (
        (header, f"{column}{key}", text)
        for column, value in _values(row, shape.spread)
        for header, key, text in _spread(value)
    )
    for header, column, text in (*_declared_inputs(shape, row, taken), *spread):
        if text and header not in yielded:
            yielded.add(header)
            taken[header] = column
            yield header, text


def _declared_inputs(
    shape: Shape, row: Mapping[str, object], taken: Mapping[str, str]
) -> Sequence[tuple[str, str, object]]:
    """Return name, column and text, or passages, of each column that the shape declares."""
    inputs = [
        (item, column, value)
        for item in shape.inputs
        for column, value in _values(row, item.columns)
        if column != taken["output"] or item in TURNS
    ]
    texts = [(item.header, column, item.read(value)) for item, column, value in inputs]
    read = {header for header, _, text in texts if text}
    for item, column, value in inputs:
        if item.header not in read and item.read in _TEXT_READERS and _has_text(value):
            key = f"{column}.KEY" if isinstance(value, Mapping) else "COLUMN"
            raise DataError(
                f"{column}: got {excerpt(value)}, expected a text or a list of texts (shape"
                f" {shape.name}): name the texts by --column inputs.{item.header}={key}"
            )
    return texts


def _has_text(value: object) -> bool:
    """Return whether there is any text or number in `value`, unless it is a conversation."""
    if isinstance(value, Mapping):
        return any(map(_has_text, value.values()))
    if isinstance(value, list):
        return not turns_of(value) and any(map(_has_text, value))
    return bool(passages_of(value)) if isinstance(value, str) else value is not None


def _spread(value: object) -> Iterator[tuple[str, str, object]]:
    """Yield name, key and value of each input in an object; keys are relative to its column.

    A text becomes the question, as does the user's last turn in a conversation. If there are
    several questions, the first is called ``Question``, and the others keep their keys.
    """
    if turns_of(value):
        yield "Question", "", question_in(value)
        yield "Context", "", grounds_in(value)
    elif isinstance(value, Mapping):
        taken: set[str] = set()
        for key, inner in value.items():
            header = _canonical(str(key))
            header = str(key) if header in taken else header
            taken.add(header)
            if turns_of(inner):
                yield from ((name, f".{key}", text) for name, _, text in _spread(inner))
            else:
                text = passages_of(inner) if header == "Context" else _plain(inner)
                yield header, f".{key}", text
    elif (text := text_of(value)) is not None:
        yield "Question", "", text


def _plain(value: object) -> object:
    text = value if isinstance(value, Mapping) else passages_of(value)
    return value if text is None else text


def _canonical(key: str) -> str:
    """Return the input's name for a key of questions or passages; other keys unchanged."""
    folded = key.replace("-", "_").casefold()
    if folded in _INNER_QUESTIONS:
        return "Question"
    return "Context" if folded.replace("_", " ") in COLLECTIONS else key


def _values(row: Mapping[str, object], columns: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield each of `columns` that has a value, with the value."""
    for column in columns:
        if (value := value_at(row, column)) is not None:
            yield column, value


def value_at(row: Mapping[str, object], column: str, *, absent: object = None) -> object:
    """Return the value of a column, or `absent`; a dot leads into an object.

    A column within null is null.
    """
    if column in row:
        return row[column]
    head, dot, rest = column.partition(".")
    inner = row.get(head, absent) if dot else absent
    if isinstance(inner, list) and inner:
        inner = inner[0]
    if isinstance(inner, Mapping):
        return value_at(inner, rest, absent=absent)
    return None if inner is None else absent


def described(shape: Shape, taken: Mapping[str, str]) -> str:
    """Return a notice to the user: the shape that was recognised, and how columns are used."""
    fields = ("output", "references", "system", TRAJECTORY)
    settings = ", ".join(
        f"{name if name in fields else f'inputs.{name}'}={column}"
        for name, column in taken.items()
        if name != column
    )
    task = f", task={shape.task}" if shape.task else ""
    if TRAJECTORY in taken:
        return (
            f"read as trajectories: {settings}, task={AGENT}"
            " (the last reply alone: --shape messages; another task: --task NAME)"
        )
    return (
        f"read as rows of the shape {shape.name}: {settings}{task}"
        " (change it by --shape NAME, --column NAME=COLUMN, --task NAME)"
    )
