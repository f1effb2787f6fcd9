"""Prompts of the judge `geval`.

The parts are those of G-Eval (Liu et al. 2023, section 2): task, criterion, evaluation
steps, texts, form of the answer. The words are ours, and so is the order: the texts come
first and what depends on the aspect last, so that servers that keep the beginning of a
prompt can use it again for the next aspect of the same segment.
"""

from collections.abc import Sequence

from spanjury.judges.core import Aspect, Message, Segment, fingerprint
from spanjury.judges.llm.grades import numbers
from spanjury.judges.llm.prompt import (
    alternatives,
    described_task,
    everything,
    shown_message,
    texts_in_context,
)
from spanjury.judges.tasks import describe
from spanjury.judges.text import fence, fill_template, read_template

_PACKAGE = "spanjury.judges.llm"
_TEMPLATES = (
    "geval-system.txt",
    "geval.txt",
    "geval-answer.txt",
    "geval-answer-json.txt",
    "geval-steps.txt",
    "geval-ends.txt",
    "geval-ends-plain.txt",
    "geval-auto.txt",
    "geval-auto-answer.txt",
    "geval-auto-answer-json.txt",
    "geval-reask.txt",
    "geval-reask-json.txt",
    "geval-auto-reask.txt",
    "geval-auto-reask-json.txt",
    "geval.gbnf",
    "score-numeric.txt",
)


def ask_for_score(
    segment: Segment, aspect: Aspect, *, steps: str, mark: str = ""
) -> tuple[Message, ...]:
    """Return the conversation that asks for the score of `segment`, reached by `steps`.

    With the `mark` of the texts, it asks for a JSON object whose name ends in it.
    """
    texts = texts_in_context(segment, aspect)
    fenced = fence(texts)
    about = {
        "task_description": described_task(aspect.task, texts),
        "material": fenced.text,
        "mark": fenced.mark,
        "description": describe(aspect),
        "aspect": aspect.spoken,
        "output": aspect.task.output_header,
        "steps": steps,
        "score": _fill("score-numeric.txt", _ends(aspect)),
        "numbers": ", ".join(numbers(aspect.scale)),
        "code": mark,
    }
    about["answer"] = _fill("geval-answer-json.txt" if mark else "geval-answer.txt", about)
    return (
        Message(role="system", content=read_template(_PACKAGE, "geval-system.txt")),
        shown_message(_fill("geval.txt", about), fenced),
    )


def ask_for_steps(aspect: Aspect, *, in_json: bool = False) -> tuple[Message, ...]:
    """Return the conversation that asks for evaluation steps; it knows of no segment."""
    answer = "geval-auto-answer-json.txt" if in_json else "geval-auto-answer.txt"
    headers = tuple(aspect.task.input_headers) if aspect.inputs is None else aspect.inputs
    about = {
        "task_description": aspect.task.description,
        "description": describe(aspect),
        "everything": everything((*headers, aspect.task.output_header)),
        "output": aspect.task.output_header,
        "answer": read_template(_PACKAGE, answer),
        **_ends(aspect),
    }
    return (Message(role="user", content=_fill("geval-auto.txt", about)),)


def our_steps(segment: Segment, aspect: Aspect) -> str:
    """Return evaluation steps made of the aspect's definition, its worst and its best."""
    output = aspect.task.output_header
    about = {**_ends(aspect), "output": output, "worst": aspect.worst, "best": aspect.best}
    ends = "geval-ends.txt" if aspect.worst and aspect.best else "geval-ends-plain.txt"
    about |= {
        "everything": everything(tuple(texts_in_context(segment, aspect))),
        "definition": aspect.definition,
        "ends": _fill(ends, about),
    }
    return _fill("geval-steps.txt", about)


def numbered(steps: Sequence[str]) -> str:
    """Return steps as a prompt lists them."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def reask_for_score(problem: str, *, aspect: Aspect, in_json: bool = False) -> Message:
    """Return the message that asks once more after a reply without a score."""
    about = {"problem": problem, "numbers": ", ".join(numbers(aspect.scale))}
    name = "geval-reask-json.txt" if in_json else "geval-reask.txt"
    return Message(role="user", content=_fill(name, about))


def reask_for_steps(problem: str, *, in_json: bool = False) -> Message:
    """Return the message that asks once more after a reply without steps."""
    name = "geval-auto-reask-json.txt" if in_json else "geval-auto-reask.txt"
    return Message(role="user", content=_fill(name, {"problem": problem}))


def geval_grammar(aspect: Aspect) -> str:
    """Return a GBNF grammar of the numbers that `ask_for_score` asks for."""
    return _fill("geval.gbnf", {"numbers": alternatives(numbers(aspect.scale))})


def geval_fingerprint() -> str:
    """Return a digest of all the fixed words of these prompts."""
    return fingerprint(*(read_template(_PACKAGE, name) for name in _TEMPLATES))


def _fill(name: str, about: dict[str, str]) -> str:
    return fill_template(_PACKAGE, name, about)


def _ends(aspect: Aspect) -> dict[str, str]:
    lowest, *_, highest = numbers(aspect.scale)
    return {"low": lowest, "high": highest}
