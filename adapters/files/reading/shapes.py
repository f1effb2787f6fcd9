"""Shapes of rows: the columns of other programs, and the native row for each.

A shape is declared once, in `SHAPES`. A row has the first shape whose columns are present; native
rows are a shape, too. `spanjury.adapters.files.reading.foreign_values` unwraps the values.
"""

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from types import MappingProxyType

from spanjury.adapters.files.reading.foreign_values import (
    grounds_in,
    last_reply,
    passages_of,
    question_in,
    question_of,
    references_of,
    text_of,
    turns_of,
)
from spanjury.adapters.files.reading.trajectories import (
    CONVERSATIONS,
    Conversation,
    conversation_in,
    spans_of_errors,
)
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.choices import choices_for
from spanjury.judges.core.passages import COLLECTIONS
from spanjury.judges.core.transcript import inputs_of, transcript

NATIVE = "spanjury"
"""The shape of our own rows."""
AGENT = "agent"
"""The shape, and the task, of rows with a trajectory."""
CONVERSATION_TASKS = frozenset({AGENT, "agent-conversation", "tool-use"})
"""Tasks in which a conversation is judged as a whole, not only its last reply."""
TRAJECTORY = "trajectory"
"""The key of a native row for the `Trajectory` from which output and inputs were made."""
_QA = "question-answering"
_KEPT = ("task", "system", "human", "meta")
"""Native keys that a row of any shape may also have."""
_KEPT_BESIDE_TEXTS = (*_KEPT, "scores", "aspect", "spans", "references")
"""The same for rows that are not traces; in traces these keys have other meanings."""
_MODEL_OUTPUTS = (
    *("output", "prediction", "predictions", "prediction_text", "pred", "predicted_answer"),
    *("predicted_summary", "generated", "generation", "generated_text", "generated_answer"),
    *("generated_summary", "model_output", "model_answer", "model_response", "model_summary"),
    *("system_output", "response", "completion", "candidate", "hypothesis", "decoded"),
)
_QUESTIONS = ("question", "query", "user_input", "prompt", "instruction")
_INNER_QUESTIONS = frozenset(
    {*_QUESTIONS, "input", "q", "user_query", "user_question", "human_input"}
)
_CONTEXTS = (
    *("contexts", "context", "retrieved_contexts", "retrieval_context", "passages", "documents"),
    *("retrieved_documents", "source_documents", "chunks", "retrieved_chunks", "search_results"),
)
_ANSWERS = (
    *("reference", "ground_truth", "ground_truths", "answers", "expected_output"),
    *("expected_answer", "gold_answer", "reference_answer", "target"),
)
_ARTICLES = ("article", "document", "dialogue", "transcript", "source_document")
_BARE_ARTICLES = ("source_text", "source", "text")  # read as articles only beside a summary
_CONVERSATIONS = ("messages", "conversation", "conversations", "turns", "user_input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An input of a shape: the first of `columns` that has a value, unwrapped by `read`."""

    header: str
    columns: tuple[str, ...]
    read: Callable[[object], str | list[str] | None] = passages_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The form of rows that another program writes.

    Parameters
    ----------
    name
        The name for ``--shape``.
    forms
        The columns that identify such rows. A form is a list of groups, and a row must have one
        column of each group.
    output
        Columns of the judged text, of which the first present is used. A dot leads into an
        object.
    inputs
        The inputs of the model.
    spread
        Columns with objects of inputs, whose keys are the inputs' names.
    references, system, ids
        Columns of references, of the system's name, and of the id, whose parts are joined.
    task
        The task of such rows.
    read
        Function that unwraps the output.
    """

    name: str
    forms: tuple[tuple[tuple[str, ...], ...], ...]
    output: tuple[str, ...]
    inputs: tuple[Input, ...] = ()
    spread: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    ids: tuple[str, ...] = ("id",)
    task: str = ""
    read: Callable[[object], str | None] = text_of


_TURNS = (
    Input(header="Question", columns=_CONVERSATIONS, read=question_in),
    Input(header="Context", columns=_CONTEXTS),
    Input(header="Context", columns=_CONVERSATIONS, read=grounds_in),
)
_TRACED = (
    *("traceId", "trace_id", "projectId", "observations", "sessionId", "startTime", "traceName"),
)

SHAPES = (
    Shape(
        name="langfuse",
        forms=((("input",), ("output",), _TRACED),),
        output=("output",),
        inputs=(Input(header="Context", columns=tuple(f"output.{name}" for name in _CONTEXTS)),),
        spread=("input",),
        references=("expectedOutput", "expected_output"),
        system=("model", "providedModelName"),
        task=_QA,
    ),
    Shape(
        name="inspect",
        forms=((("input",), ("output",), ("target",), ("epoch", "scores", "messages")),),
        output=("output.completion", "output"),
        spread=("input",),
        references=("target",),
        system=("output.model",),
        ids=("id", "epoch"),
        task=_QA,
    ),
    Shape(
        name="promptfoo",
        forms=((("vars",), ("response", "output")),),
        output=("response.output", "output"),
        inputs=(
            Input(header="Context", columns=("response.metadata.context", "metadata.context")),
        ),
        spread=("vars", "prompt.raw"),
        system=("provider.label", "provider.id", "provider"),
        task=_QA,
    ),
    Shape(
        name="deepeval",
        forms=((("input",), ("actual_output", "actualOutput")),),
        output=("output", "actual_output", "actualOutput"),
        inputs=(
            Input(header="Question", columns=("input",), read=text_of),
            Input(
                header="Context",
                columns=("retrieval_context", "retrievalContext", "context"),
            ),
        ),
        references=("expected_output", "expectedOutput"),
        task=_QA,
    ),
    Shape(
        name="langsmith",
        forms=((("inputs",), ("outputs",)),),
        output=("output", "outputs"),
        inputs=(Input(header="Context", columns=tuple(f"outputs.{name}" for name in _CONTEXTS)),),
        spread=("inputs",),
        references=("reference_outputs", "reference", "reference_example.outputs"),
        task=_QA,
    ),
    Shape(
        name=NATIVE,
        forms=((("output",), ("input", "inputs", "source")),),
        output=("output",),
    ),
    Shape(
        name="ragas",
        forms=(
            (("user_input",), ("response",)),
            (("question",), ("answer",), ("contexts", "ground_truth", "ground_truths")),
        ),
        output=("output", "response", "answer"),
        inputs=(
            Input(header="Question", columns=("user_input", "question"), read=text_of),
            Input(header="Context", columns=("retrieved_contexts", "contexts")),
        ),
        references=("reference", "ground_truth", "ground_truths"),
        task=_QA,
    ),
    Shape(
        name="messages",
        forms=((_CONVERSATIONS[:-1], ("output", "response")),),
        output=("output", "response"),
        inputs=_TURNS,
        references=("reference", "ideal"),
        system=("model",),
        task=_QA,
    ),
    Shape(
        name="messages",
        forms=((_CONVERSATIONS[:-1],),),
        output=_CONVERSATIONS,
        inputs=_TURNS,
        references=("reference", "ideal"),
        system=("model",),
        task=_QA,
        read=last_reply,
    ),
    Shape(
        name="summarization",
        forms=(
            (_ARTICLES, (*_MODEL_OUTPUTS, "summary", "highlights")),
            (_BARE_ARTICLES, ("summary", "predicted_summary", "generated_summary")),
        ),
        output=(*_MODEL_OUTPUTS, "summary"),
        inputs=(Input(header="Article", columns=(*_ARTICLES, *_BARE_ARTICLES), read=text_of),),
        references=("reference", "reference_summary", "highlights", "target", "summary"),
        task="summarization",
    ),
    Shape(
        name="translation",
        forms=((("src",), ("mt", "hyp", "hypothesis", "translation")),),
        output=("output", "mt", "hyp", "hypothesis", "translation"),
        inputs=(Input(header="Source", columns=("src",), read=text_of),),
        references=("ref", "reference"),
        task="translation",
    ),
    Shape(
        name="qa",
        forms=(
            (_QUESTIONS, (*_MODEL_OUTPUTS, "answer")),
            (_CONTEXTS, (*_MODEL_OUTPUTS, "answer")),
        ),
        output=(*_MODEL_OUTPUTS, "answer"),
        inputs=(
            Input(header="Question", columns=_QUESTIONS, read=question_of),
            Input(header="Context", columns=_CONTEXTS),
            Input(header="Context", columns=("prompt",), read=grounds_in),
        ),
        references=(*_ANSWERS, "answer"),
        task=_QA,
    ),
    Shape(name=NATIVE, forms=((("output",),),), output=("output",)),
)
"""The shapes that are recognised by their columns; the first that fits is used."""

_AGENT = Shape(
    name=AGENT,
    forms=((CONVERSATIONS,),),
    output=(),
    references=("reference", "ideal"),
    system=("model",),
    task=AGENT,
)
"""The shape of rows with trajectories, found by `whole_conversation` instead of by columns."""

NAMES = tuple(sorted({shape.name for shape in (*SHAPES, _AGENT)}))
"""The names for ``--shape``."""


def shape_named(name: str, columns: Collection[str] = ()) -> Shape:
    """Return the shape called `name`: the variant that fits `columns`, or else the last one.

    Raises `ConfigError`, listing the choices, if there is none.
    """
    variants = [shape for shape in (*SHAPES, _AGENT) if shape.name == name]
    if not variants:
        raise ConfigError(f"unknown shape {name!r}: {choices_for(name, NAMES)}")
    return next((shape for shape in variants if _fits(shape, columns)), variants[-1])


def shape_of(columns: Collection[str]) -> Shape | None:
    """Return the shape of rows with these columns; None if none fits.

    Examples
    --------
    >>> shape_of(["user_input", "response", "retrieved_contexts"]).name
    'ragas'
    """
    return _shape_of(frozenset(columns))


@lru_cache(maxsize=256)
def _shape_of(columns: frozenset[str]) -> Shape | None:
    return next((shape for shape in SHAPES if _fits(shape, columns)), None)


@dataclass(frozen=True, slots=True)
class Reading:
    """A row in our names, and the column of each name's value."""

    row: Mapping[str, object]
    taken: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


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
    is_whole = is_asked or row.get("task") in CONVERSATION_TASKS
    return conversation if conversation and (is_whole or conversation.has_tools) else None


def read_trajectory(
    row: Mapping[str, object], conversation: Conversation, *, shape: Shape | None
) -> Reading:
    """Return the native row of a row with a `conversation`; `shape` is that of its other columns.

    Errors that name a turn become spans with offsets into the transcript.

    Raises `DataError` if an error names a turn, a call or a value that does not exist.
    """
    trajectory = conversation.trajectory
    shape = _AGENT if shape is None or shape.name == NATIVE else shape
    made = transcript(trajectory)
    native: dict[str, object] = {
        TRAJECTORY: trajectory,
        "output": made.text,
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
            *spans_of_errors(errors, made),
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


def _fits(shape: Shape, columns: Collection[str]) -> bool:
    return any(
        all(any(name in columns for name in group) for group in form) for form in shape.forms
    )


def read_as(shape: Shape, row: Mapping[str, object]) -> Reading:
    """Return the native row of a `row` of the `shape`.

    Columns that the shape does not read are kept in ``meta``. Native columns such as ``system`` or
    ``human`` take precedence over those of the shape.

    Raises `DataError`, with advice, if the row has no text in a column of the output.
    """
    if shape.name == NATIVE:
        return Reading(row)
    taken: dict[str, str] = {}
    native: dict[str, object] = {"output": _output(shape, row, taken)}
    if shape.task:
        native["task"] = shape.task
    if inputs := {**dict(_inputs(shape, row, taken)), **_given_inputs(shape, row)}:
        native["inputs"] = inputs
    _add_names(shape, row, native=native, taken=taken)
    used = {column.partition(".")[0] for column in (*taken.values(), *shape.ids)}
    return Reading({**native, **_kept(shape, row, used)}, taken)


def _given_inputs(shape: Shape, row: Mapping[str, object]) -> Mapping[str, object]:
    """Return the inputs that a row has under our names, or by ``--column``."""
    inputs = row.get("inputs")
    return inputs if isinstance(inputs, Mapping) and "inputs" not in shape.spread else {}


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
    """Return the text of the first output column present; if it is null, no other one is used."""
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
    taken["output"] = column
    return text


def _inputs(
    shape: Shape, row: Mapping[str, object], taken: dict[str, str]
) -> Iterator[tuple[str, object]]:
    """Yield name and text, or passages, of each input; the first of a name is used."""
    yielded: set[str] = set()
    declared = (
        (item.header, column, item.read(value))
        for item in shape.inputs
        for column, value in _values(row, item.columns)
        if column != taken["output"] or item in _TURNS
    )
    spread = (
        (header, f"{column}{key}", text)
        for column, value in _values(row, shape.spread)
        for header, key, text in _spread(value)
    )
    for header, column, text in (*declared, *spread):
        if text and header not in yielded:
            yielded.add(header)
            taken[header] = column
            yield header, text


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


def value_at(row: Mapping[str, object], column: str) -> object:
    """Return the value of a column, or None; a dot leads into an object.

    Examples
    --------
    >>> value_at({"response": {"output": "Yes."}}, "response.output")
    'Yes.'
    """
    if column in row:
        return row[column]
    head, dot, rest = column.partition(".")
    inner = row.get(head) if dot else None
    if isinstance(inner, list) and inner:
        inner = inner[0]
    return value_at(inner, rest) if isinstance(inner, Mapping) else None


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


def missing_output(columns: Collection[str], *, shape: Shape | None = None) -> str:
    """Return the message for a row without an output: its columns, the nearest shape, and flags."""
    listed = ", ".join(filter(None, columns))
    if "output" in columns or not listed:
        return f"the row has no output: {'the value is null' if listed else 'it is empty'}"
    problem = f"the row has no output, only {listed}"
    if shape is not None and shape.name != NATIVE:
        return f"{problem}; name the column of the judged text: --column output=COLUMN"
    shape, lacking = _nearest(columns)
    if shape is None:
        return (
            f"{problem}; name the columns, for example --column output=COLUMN"
            f" --column inputs.Question=COLUMN, or a shape: --shape {'|'.join(NAMES)}"
        )
    settings = (f"{name}={column or 'COLUMN'}" for name, column in lacking.items())
    flags = "".join(f" --column {shlex.quote(setting)}" for setting in settings)
    return (
        f"{problem}; the nearest shape is {shape.name}, without {' and '.join(lacking)}:"
        f" add --shape {shape.name}{flags}"
    )


def _nearest(columns: Collection[str]) -> tuple[Shape | None, dict[str, str]]:
    """Return the shape that fits `columns` best, and a similar column for each missing field.

    The column is empty if none is similar. The shape is None if fewer than half of its groups fit.
    """
    best: tuple[float, Shape | None, dict[str, str]] = (0.0, None, {})
    for shape in SHAPES:
        for form in shape.forms:
            share, lacking = _fit(shape, form, columns)
            if share > best[0]:
                best = (share, shape, lacking)
    share, nearest, lacking = best
    return (nearest, lacking) if share >= _ENOUGH else (None, {})


_ENOUGH = 0.5  # least share of a form's groups
_SIMILAR = 0.75  # least similarity of a column to a declared name


def _fit(
    shape: Shape, form: tuple[tuple[str, ...], ...], columns: Collection[str]
) -> tuple[float, dict[str, str]]:
    lacking: dict[str, str] = {}
    share = 0.0
    candidates = [column for column in columns if column not in _declared()]
    for group in form:
        if any(name in columns for name in group):
            share += 1
            continue
        near = next(
            (
                match
                for name in group
                for match in get_close_matches(name, candidates, n=1, cutoff=_SIMILAR)
            ),
            "",
        )
        share += _SIMILAR if near else 0
        lacking[_field_of(shape, group[0])] = near
    return share / len(form), lacking


@cache
def _declared() -> frozenset[str]:
    """Return the columns of all shapes, which are never taken for misspellings of another."""
    return frozenset().union(
        *(item.columns for shape in SHAPES for item in shape.inputs),
        *((*shape.output, *shape.references) for shape in SHAPES),
    )


def _field_of(shape: Shape, column: str) -> str:
    """Return our name for the contents of a shape's column."""
    if column in shape.output:
        return "output"
    header = next((item.header for item in shape.inputs if column in item.columns), "")
    return f"inputs.{header}" if header else "inputs"
