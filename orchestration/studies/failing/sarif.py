"""Failing rows in SARIF 2.1.0 [1], the format in which code scanning takes findings.

References
----------
.. [1] OASIS (2023), Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from spanjury.judges.core import VERSION, ErrorSpan, fingerprint
from spanjury.orchestration.studies.failing.conditions import Failure
from spanjury.orchestration.studies.failing.lines import Location, row_name, span_message

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {1: "note", 2: "note", 3: "warning", 4: "error", 5: "error"}
_FINGERPRINT = "spanjury/v1"

Values = dict[str, object]


def sarif(
    failures: Sequence[Failure], locations: Mapping[str, Location], *, is_complete: bool
) -> Values:
    """Return failing rows as a SARIF log with one run: a result for each span that fails.

    A row that fails as a whole is one result. The rules are the aspects with the categories of
    their errors. Offsets in the judged text are properties: they are not offsets in the file.

    Parameters
    ----------
    locations
        Id of a segment -> its location.
    is_complete
        Whether every row was answered.
    """
    pairs = list(_failing_spans(failures))
    rules = list(dict.fromkeys(_rule(failure, span) for failure, span in pairs))
    numbers = {rule: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for failure, span in pairs:
        rule = _rule(failure, span)
        results.append(
            {
                "ruleId": rule,
                "ruleIndex": numbers[rule],
                **_result(failure, span, seen),
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


def _failing_spans(failures: Sequence[Failure]) -> Iterator[tuple[Failure, ErrorSpan | None]]:
    for failure in failures:
        for span in failure.spans or (None,):
            yield failure, span


def _rule(failure: Failure, span: ErrorSpan | None) -> str:
    category = span.category if span is not None else ""
    return f"{failure.aspect}/{category}" if category else failure.aspect


def _described(rule: str) -> str:
    aspect, _, category = rule.partition("/")
    return f"{category} (aspect {aspect})" if category else f"Errors of the aspect {aspect}"


def _result(failure: Failure, span: ErrorSpan | None, seen: Counter[str]) -> Values:
    text = failure.says if span is None else span_message(span)
    marked = "" if span is None else span.text
    name = fingerprint(failure.task, failure.segment_id, failure.aspect, marked)
    seen[name] += 1  # the same quote may be wrong twice
    return {
        "level": "error" if span is None else _LEVELS.get(span.severity or 0, "warning"),
        "message": {"text": f"{row_name(failure)}: {text}"},
        "partialFingerprints": {_FINGERPRINT: f"{name}:{seen[name]}"},
        "properties": _properties(failure, span),
    }


def _properties(failure: Failure, span: ErrorSpan | None) -> Values:
    named: Values = {
        "id": failure.segment_id,
        "system": failure.system,
        "task": failure.task,
        "aspect": failure.aspect,
        "conditions": list(failure.conditions),
    }
    if span is None:
        return named
    return {
        **named,
        "severity": span.severity,
        "probability": span.probability,
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "found_by": list(span.found_by),
    }


def _location(location: Location | None) -> Values:
    if location is None:
        return {}
    physical: Values = {"artifactLocation": {"uri": _uri(location.file)}}
    if location.line is not None:
        physical["region"] = {"startLine": location.line}
    return {"locations": [{"physicalLocation": physical}]}


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
