r"""Replies in JSON: the schemas that constrain them, and their readers.

Every key carries the mark of the request, like the labels of the text form: no judged text can know
it, so an object that a reply quotes never passes for its own. The decision comes last, after the
words that lead to it. If a reply is not such an object the readers return None, and it is read as
text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from spanjury.judges.core import ReplySchema, Scale
from spanjury.judges.llm.grades import Grade, read_grade, read_severity
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parsed import ParsedError, ParsedEvidence, ParsedReply
from spanjury.judges.llm.verdict import NO, VERDICT, YES, VerdictPlace
from spanjury.judges.text import object_in

_REPORT_SCORE = "overall_score"
_SCORE = "score"
_STEPS = "steps"
_MARK = "$code"
_TEXT = {"type": "string"}
_LONGEST_QUOTE = 300  # characters
_LONGEST_LINE = 400
_NOT_OWN = "not all of its names end as in the form of the answer"


@lru_cache(maxsize=256)
def report_schema(
    *,
    scores: tuple[str, ...],
    severities: tuple[str, ...],
    max_errors: int,
    inputs: tuple[str, ...] = (),
    bounded: bool = False,
    verdict: VerdictPlace = "none",
) -> ReplySchema:
    """Return the schema of a report, whose keys end in the variable of `with_mark`.

    Parameters
    ----------
    scores, severities
        Allowed spellings of the score and of a severity.
    max_errors
        Maximum number of errors.
    inputs
        Names of the inputs that evidence may quote; empty if none is requested.
    bounded
        Whether to limit the length of strings and lists.
    verdict
        Position of the word that says whether there is an error.
    """
    quote, line, errors = (
        ({"maxLength": _LONGEST_QUOTE}, {"maxLength": _LONGEST_LINE}, {"maxItems": max_errors})
        if bounded
        else ({}, {}, {})
    )
    evidence = {"evidence": {**_TEXT, **quote}, "evidence_input": _one_of(inputs)}
    error = _object(
        {
            "location": {**_TEXT, **quote},
            "explanation": {**_TEXT, **line},
            **(evidence if inputs else {}),
            "severity": _one_of(severities),
        }
    )
    faulty = {VERDICT: _one_of((YES, NO))}
    report = {
        **(faulty if verdict == "before" else {}),
        "errors": {"type": "array", "items": error, **errors},
        "explanation_of_the_score": {**_TEXT, **line},
        **(faulty if verdict == "after" else {}),
        _REPORT_SCORE: _one_of(scores),
    }
    text = json.dumps(_object(report), ensure_ascii=False)
    return ReplySchema(name="report", text=text, bounded=bounded)


def with_mark(schema: ReplySchema, mark: str) -> ReplySchema:
    """Return a schema whose keys end in `mark`."""
    return replace(schema, text=schema.text.replace(_MARK, mark))


def score_schema(scores: Sequence[str], *, mark: str) -> ReplySchema:
    """Return the schema of an object with one of `scores`."""
    text = json.dumps(_object({_SCORE: _one_of(scores)}), ensure_ascii=False)
    return with_mark(ReplySchema(name="score", text=text), mark)


def steps_schema(*, bounded: bool) -> ReplySchema:
    """Return the schema of a list of steps; its key has no mark, as the prompt shows no text."""
    limits = {"minItems": 4, "maxItems": 9} if bounded else {}
    step = {**_TEXT, **({"maxLength": _LONGEST_LINE} if bounded else {})}
    form = {
        "type": "object",
        "properties": {_STEPS: {"type": "array", "items": step, **limits}},
        "required": [_STEPS],
        "additionalProperties": False,
    }
    return ReplySchema(name=_STEPS, text=json.dumps(form), bounded=bounded)


def read_steps(reply: str) -> list[str] | None:
    """Return the steps that `reply` lists, or None if it is not an object of that form."""
    answer = object_in(_answer(reply))
    listed = answer.get(_STEPS) if answer is not None else None
    return [step for item in listed if (step := _words(item))] if isinstance(listed, list) else None


def _object(fields: Mapping[str, object]) -> dict[str, object]:
    properties = {f"{name}_{_MARK}": field for name, field in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(words: Sequence[str]) -> dict[str, object]:
    return {**_TEXT, "enum": list(words)}


def read_report(
    reply: str, *, scale: Scale, material: Material, mark: str, inputs: Sequence[str] = ()
) -> ParsedReply | None:
    r"""Return the report in `reply`, or None if it is not an object of that form.

    Parameters
    ----------
    material
        The judged texts. Keys without the mark are read only if no text contains such a key, in
        quotation marks if other keys have the mark.
    inputs
        Names of the inputs that evidence may quote.
    """
    answer = _answer_object(reply, key=_REPORT_SCORE, material=material, mark=mark)
    if not isinstance(answer, Mapping):
        return None if answer is None else ParsedReply(problem=answer)
    listed = answer.get("errors", ())
    if listed is None:  # so some models write an empty list
        listed = []
    if not isinstance(listed, list) or not _are_errors(listed):
        return ParsedReply(problem="its errors are not a list of objects")
    errors = tuple(_error(error, inputs=inputs) for error in listed)
    grade = read_grade(_words(answer[_REPORT_SCORE]), scale=scale)
    return ParsedReply(
        errors=errors,
        score=grade.value,
        error_free=not errors,
        rationale=_words(answer.get("explanation_of_the_score")),
        problem=grade.problem,
        faulty={YES: True, NO: False}.get(_words(answer.get(VERDICT)).casefold()),
    )


def _are_errors(listed: Sequence[object]) -> bool:
    """Return whether a list is of objects, beside which remarks may stand."""
    has_object = any(isinstance(error, Mapping) for error in listed)
    return not listed or (has_object and all(isinstance(item, Mapping | str) for item in listed))


def read_score_field(reply: str, *, scale: Scale, material: Material, mark: str) -> Grade | None:
    """Return the score in `reply`, or None if it is not an object of that form."""
    answer = _answer_object(reply, key=_SCORE, material=material, mark=mark)
    if not isinstance(answer, Mapping):
        return None if answer is None else Grade(problem=answer)
    return read_grade(_words(answer[_SCORE]), scale=scale)


def marked_field(reply: str, name: str, *, mark: str) -> tuple[object] | None:
    """Return the value of the only field of the object in `reply`; None for any other reply.

    The value is wrapped in a tuple, since it may itself be None.
    """
    answer, named = object_in(_answer(reply)), f"{name}_{mark}"
    return (answer[named],) if answer is not None and [*answer] == [named] else None


def _error(error: Mapping[str, object] | str, *, inputs: Sequence[str]) -> ParsedError:
    if isinstance(error, str):  # a remark beside objects
        return ParsedError(quote="", explanation=_words(error), severity=None)
    quote, source_quote = _exactly(error.get("location")), _exactly(error.get("evidence"))
    named = _words(error.get("evidence_input"))
    evidence = ParsedEvidence(quote=source_quote, input=named if named in inputs else "")
    return ParsedError(
        quote="" if quote.strip().casefold() == "n/a" else quote,
        explanation=_words(error.get("explanation")),
        severity=read_severity(_words(error.get("severity"))),
        evidence=(evidence,) if inputs and source_quote.strip() else (),
    )


def _answer_object(
    reply: str, *, key: str, material: Material, mark: str
) -> Mapping[str, object] | str | None:
    """Return the object with unmarked keys, or why it cannot be used; None without the `key`."""
    names = _Names(mark)
    answer = object_in(_answer(reply), pairs=names.plain)
    if answer is None or key not in answer:
        return None
    # Nothing quoted has a marked name. Beside one, a name may be quoted if a text has it in quotes.
    quotable = [f'"{name}"' for name in names.unmarked] if names.marked else [key]
    return _NOT_OWN if any(map(material.holds_word, quotable)) else answer


def _answer(reply: str) -> str:
    return reply if reply.lstrip().startswith("{") else without_reasoning(reply) or ""


class _Names:
    """Removes the mark from the keys of objects, and records which have it."""

    def __init__(self, mark: str) -> None:
        self._end = f"_{mark}"
        self.marked: set[str] = set()
        self.unmarked: set[str] = set()

    def plain(self, fields: Sequence[tuple[str, object]]) -> dict[str, object]:
        """Return an object with unmarked keys; raise `ValueError` if a key occurs twice."""
        named = {name.removesuffix(self._end): value for name, value in fields}
        if len(named) < len(fields):
            raise ValueError("a name occurs twice")
        for name, _ in fields:
            if name.endswith(self._end):
                self.marked.add(name)
            else:
                self.unmarked.add(name.casefold())
        return named


def _words(value: object) -> str:
    return _exactly(value).strip()


def _exactly(value: object) -> str:
    """Return a string, or a number as a string, without lone surrogates from escapes."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
