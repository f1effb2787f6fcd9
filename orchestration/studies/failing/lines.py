"""Failing rows as lines for people, as annotations for GitHub, and in SARIF 2.1.0 [1].

References
----------
.. [1] OASIS (2023), Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote

from spanjury.judges.core import VERSION, ErrorSpan, fingerprint, one_line
from spanjury.judges.core.transcript import Position
from spanjury.orchestration.studies.failing.conditions import Failure

_QUOTE = 60
_EXPLANATION = 160
"""Characters shown of a quote, and of why it is an error."""

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
"""Characters that end a message, or a property, of a workflow command, and what stands for them."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {1: "note", 2: "note", 3: "warning", 4: "error", 5: "error"}
_FINGERPRINT = "spanjury/v1"

Values = dict[str, object]


class Location(NamedTuple):
    """A file and, where it is known, the line in it; lines are counted from 1."""

    file: str
    line: int | None = None


def failing_line(failure: Failure) -> str:
    """Return a failing row in one line: its name, the conditions that it meets, and why."""
    met = "; ".join(failure.conditions)
    span, position = _placed(failure)[0]
    text = _report_words(failure) if span is None else _span_words(span, position)
    more = f" (and {len(failure.spans) - 1} more)" if len(failure.spans) > 1 else ""
    # Led by a word of ours: an id at the beginning of a line could be a command to what reads it.
    return one_line(f"failing: {row_name(failure)} ({met}): {text}{more}")


def annotations(failure: Failure, locations: Mapping[str, Location]) -> Iterator[str]:
    """Yield a workflow command of GitHub for each span that fails, or for the row itself.

    `locations`: id of a segment -> its location; a row without one is on no line of the page.
    """
    location = locations.get(failure.segment_id)
    for span, position in _placed(failure):
        text = _report_words(failure) if span is None else _span_words(span, position)
        title = failure.aspect if span is None else f"{failure.aspect}: {_severity(span)}"
        yield workflow_command(
            one_line(f"{row_name(failure)}: {text}"), title=title, location=location
        )


def workflow_command(message: str, *, title: str, location: Location | None = None) -> str:
    r"""Return an error as the runner of GitHub's workflows reads it.

    Examples
    --------
    >>> workflow_command("100 %\nwrong", title="form: a, b", location=Location("a.jsonl", 3))
    '::error file=a.jsonl,line=3,title=form%3A a%2C b::100 %25%0Awrong'
    """
    position = {} if location is None else location._asdict()
    properties = {**position, "title": title}
    named = ",".join(
        f"{name}={_escaped(str(value), _PROPERTY)}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::error {named}::{_escaped(message, _DATA)}"


def row_name(failure: Failure) -> str:
    """Return the id and the aspect of a row, and its system unless the id says it."""
    names: Sequence[str] = (failure.segment_id, failure.system, failure.aspect)
    if not failure.system or failure.segment_id.endswith(f"/{failure.system}"):
        names = (failure.segment_id, failure.aspect)
    return one_line(", ".join(names))


def span_message(span: ErrorSpan) -> str:
    """Return what is wrong with a span: its quote, and why it is an error."""
    quote = f"'{one_line(span.text)}'" if span.text else "no place"
    return f"{quote}: {one_line(span.explanation)}" if span.explanation else quote


def _placed(failure: Failure) -> Sequence[tuple[ErrorSpan | None, Position | None]]:
    """Return each span that fails with its position; neither where the row fails as a whole."""
    return [*zip(failure.spans, failure.positions, strict=True)] or [(None, None)]


def _report_words(failure: Failure) -> str:
    """Return decision and score of a report that fails as a whole, with its gravest error."""
    if failure.worst is None:
        return failure.says
    return f"{failure.says}: {_span_words(failure.worst, failure.worst_position)}"


def _span_words(span: ErrorSpan, position: Position | None) -> str:
    facts = [str(position)] if position else []
    facts.append(_severity(span))
    if span.probability is not None:
        facts.append(f"probability {span.probability:.2f}")
    if span.category:
        facts.append(span.category)
    quote = f"'{_short(span.text, _QUOTE)}'" if span.text else "no place"
    return f"{', '.join(facts)}, {quote}: {_short(span.explanation, _EXPLANATION)}"


def _severity(span: ErrorSpan) -> str:
    return "severity not given" if span.severity is None else f"severity {span.severity}"


def _short(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


def sarif(
    failures: Sequence[Failure], locations: Mapping[str, Location], *, is_complete: bool
) -> Values:
    """Return failing rows as a SARIF log with one run: a result for each span that fails.

    A row that fails as a whole is one result. The rules are the aspects with the categories of
    their errors. Offsets in the judged text are properties: they are not offsets in the file.

    `locations`: id of a segment -> its location.
    `is_complete`: whether every row was answered.
    """
    pairs = [
        (failure, span, position) for failure in failures for span, position in _placed(failure)
    ]
    rules = list(dict.fromkeys(_rule(failure, span) for failure, span, _ in pairs))
    numbers = {rule: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for failure, span, position in pairs:
        rule = _rule(failure, span)
        results.append(
            {
                "ruleId": rule,
                "ruleIndex": numbers[rule],
                **_result(failure, span, position=position, seen=seen),
                **_location(locations.get(failure.segment_id)),
            }
        )
    driver = {
        "name": "spanjury",
        "version": VERSION,
        "rules": [{"id": rule, "shortDescription": {"text": _described(rule)}} for rule in rules],
    }
    run: Values = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": is_complete}],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(failure: Failure, span: ErrorSpan | None) -> str:
    category = span.category if span is not None else ""
    return f"{failure.aspect}/{category}" if category else failure.aspect


def _described(rule: str) -> str:
    aspect, _, category = rule.partition("/")
    return f"{category} (aspect {aspect})" if category else f"Errors of the aspect {aspect}"


def _result(
    failure: Failure, span: ErrorSpan | None, *, position: Position | None, seen: Counter[str]
) -> Values:
    text = _report_words(failure) if span is None else span_message(span)
    text = f"{position}: {text}" if position else text
    marked = "" if span is None else span.text
    name = fingerprint(failure.task, failure.segment_id, failure.aspect, marked)
    seen[name] += 1  # the same quote may be wrong twice
    of_span: Values = {}
    if span is not None:
        values = ("severity", "probability", "start", "end", "text")
        of_span = {value: getattr(span, value) for value in values}
        of_span["found_by"] = list(span.found_by)
    return {
        "level": "error" if span is None else _LEVELS.get(span.severity or 0, "warning"),
        "message": {"text": f"{row_name(failure)}: {text}"},
        "partialFingerprints": {_FINGERPRINT: f"{name}:{seen[name]}"},
        "properties": {
            "id": failure.segment_id,
            "system": failure.system,
            "task": failure.task,
            "aspect": failure.aspect,
            "conditions": list(failure.conditions),
            **of_span,
            **({"at": asdict(position)} if position else {}),
        },
    }


def _location(location: Location | None) -> Values:
    if location is None:
        return {}
    path = PurePath(location.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    physical: Values = {"artifactLocation": {"uri": uri}}
    if location.line is not None:
        physical["region"] = {"startLine": location.line}
    return {"locations": [{"physicalLocation": physical}]}
