"""Shapes of rows: the columns of other programs, and the native row for each.

A shape is declared once, in `SHAPES`. A row has the first shape whose columns are present; native
rows are a shape, too. `spanjury.adapters.files.reading.foreign_values` unwraps the values.
"""

import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache

from spanjury.adapters.files.reading.foreign_values import (
    grounds_in,
    last_reply,
    passages_of,
    question_in,
    question_of,
    text_of,
)
from spanjury.adapters.files.reading.trajectories import CONVERSATIONS
from spanjury.judges.core import ConfigError
from spanjury.judges.core.choices import choices_for

NATIVE = "spanjury"
"""The shape of our own rows."""
AGENT = "agent"
"""The shape, and the task, of rows with a trajectory."""
CONVERSATION_TASKS = frozenset({AGENT, "agent-conversation", "tool-use"})
"""Tasks in which a conversation is judged as a whole, not only its last reply."""
TRAJECTORY = "trajectory"
"""The key of a native row for the `Trajectory` from which output and inputs were made."""
_QA = "question-answering"
_MODEL_OUTPUTS = (
    *("output", "prediction", "predictions", "prediction_text", "pred", "predicted_answer"),
    *("predicted_summary", "generated", "generation", "generated_text", "generated_answer"),
    *("generated_summary", "model_output", "model_answer", "model_response", "model_summary"),
    *("system_output", "response", "completion", "candidate", "hypothesis", "decoded"),
)
QUESTIONS = ("question", "query", "user_input", "prompt", "instruction")
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

    The name is that for ``--shape``. `forms` are the columns that identify such rows: a form is a
    list of groups, and a row must have one column of each group. `output` lists columns of the
    judged text, of which the first present is used, and unwrapped by `read`; a dot leads into an
    object. `spread` lists columns with objects of inputs, whose keys are the inputs' names. There
    are also the columns of references, of the system's name, and of the id, whose parts are joined.
    """

    name: str
    forms: tuple[tuple[tuple[str, ...], ...], ...]
    output: tuple[str, ...]
    inputs: tuple[Input, ...] = ()
    spread: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    system: tuple[str, ...] = ("model",)
    ids: tuple[str, ...] = ("id",)
    task: str = ""
    read: Callable[[object], str | None] = text_of


TURNS = (
    Input(header="Question", columns=_CONVERSATIONS, read=question_in),
    Input(header="Context", columns=_CONTEXTS),
    Input(header="Context", columns=_CONVERSATIONS, read=grounds_in),
)
_TRACED = (
    *("traceId", "trace_id", "projectId", "observations"),
    *("sessionId", "startTime", "traceName"),
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
        inputs=TURNS,
        references=("reference", "ideal"),
        task=_QA,
    ),
    Shape(
        name="messages",
        forms=((_CONVERSATIONS[:-1],),),
        output=_CONVERSATIONS,
        inputs=TURNS,
        references=("reference", "ideal"),
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
            (QUESTIONS, (*_MODEL_OUTPUTS, "answer")),
            (_CONTEXTS, (*_MODEL_OUTPUTS, "answer")),
        ),
        output=(*_MODEL_OUTPUTS, "answer"),
        inputs=(
            Input(header="Question", columns=QUESTIONS, read=question_of),
            Input(header="Context", columns=_CONTEXTS),
            Input(header="Context", columns=("prompt",), read=grounds_in),
        ),
        references=(*_ANSWERS, "answer"),
        task=_QA,
    ),
    Shape(name=NATIVE, forms=((("output",),),), output=("output",)),
)
"""The shapes that are recognised by their columns; the first that fits is used."""

AGENT_SHAPE = Shape(
    name=AGENT,
    forms=((CONVERSATIONS,),),
    output=(),
    references=("reference", "ideal"),
    task=AGENT,
)
"""The shape of rows with trajectories, found by `whole_conversation` instead of by columns."""

NAMES = tuple(sorted({shape.name for shape in (*SHAPES, AGENT_SHAPE)}))
"""The names for ``--shape``."""


def shape_named(name: str, columns: Collection[str] = ()) -> Shape:
    """Return the shape called `name`: the variant that fits `columns`, or else the last one.

    Raises `ConfigError`, listing the choices, if there is none.
    """
    variants = [shape for shape in (*SHAPES, AGENT_SHAPE) if shape.name == name]
    if not variants:
        raise ConfigError(f"unknown shape {name!r}: {choices_for(name, NAMES)}")
    return next((shape for shape in variants if _fits(shape, columns)), variants[-1])


def shape_of(columns: Collection[str]) -> Shape | None:
    """Return the shape of rows with these columns; None if none fits."""
    return _shape_of(frozenset(columns))


@lru_cache(maxsize=256)
def _shape_of(columns: frozenset[str]) -> Shape | None:
    return next((shape for shape in SHAPES if _fits(shape, columns)), None)


def _fits(shape: Shape, columns: Collection[str]) -> bool:
    return any(
        all(any(name in columns for name in group) for group in form) for form in shape.forms
    )


def missing_output(columns: Collection[str], *, shape: Shape | None = None) -> str:
    """Return the message for a row without an output: its columns, the nearest shape, and flags."""
    listed = ", ".join(filter(None, columns))
    if "output" in columns or not listed:
        return f"the row has no output: {'the value is null' if listed else 'it is empty'}"
    problem = f"the row has no output, only {listed}"
    if shape is not None and shape.name != NATIVE:
        return f"{problem}; name the column of the judged text: --column output=COLUMN"
    nearest, lacking = _nearest(columns)
    if nearest is None:
        return (
            f"{problem}; name the columns, for example --column output=COLUMN"
            f" --column inputs.Question=COLUMN, or a shape: --shape {'|'.join(NAMES)}"
        )
    settings = (f"{name}={column or 'COLUMN'}" for name, column in lacking.items())
    flags = "".join(f" --column {shlex.quote(setting)}" for setting in settings)
    return (
        f"{problem}; the nearest shape is {nearest.name}, without {' and '.join(lacking)}:"
        f" add --shape {nearest.name}{flags}"
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
    """Return the share of a form's groups that `columns` fit, and the missing fields.

    Each missing field has the name of a similar column, which counts in part, or an empty one.
    """
    lacking: dict[str, str] = {}
    share = 0.0
    candidates = [column for column in columns if column not in _declared()]
    for group in form:
        if any(name in columns for name in group):
            share += 1
            continue
        similar = next(
            (
                match
                for name in group
                for match in get_close_matches(name, candidates, n=1, cutoff=_SIMILAR)
            ),
            "",
        )
        share += _SIMILAR if similar else 0
        lacking[_field_of(shape, group[0])] = similar
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
