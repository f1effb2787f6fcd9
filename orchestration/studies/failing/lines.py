"""Failing rows as lines for people and as annotations for the pages of GitHub."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import ErrorSpan, one_line
from spanjury.orchestration.studies.failing.conditions import Failure

_QUOTE = 60
_EXPLANATION = 160
"""Characters shown of a quote, and of why it is an error."""

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
"""Characters that end a message, or a property, of a workflow command, and what stands for them."""


class Location(NamedTuple):
    """A file and, where it is known, the line in it; lines are counted from 1."""

    file: str
    line: int | None = None


def failing_line(failure: Failure) -> str:
    """Return a failing row in one line: its name, the conditions that it meets, and why."""
    met = "; ".join(failure.conditions)
    text = _span_words(failure.spans[0]) if failure.spans else failure.says
    more = f" (and {len(failure.spans) - 1} more)" if len(failure.spans) > 1 else ""
    # Led by a word of ours: an id at the beginning of a line could be a command to what reads it.
    return one_line(f"failing: {row_name(failure)} ({met}): {text}{more}")


def annotations(failure: Failure, locations: Mapping[str, Location]) -> Iterator[str]:
    """Yield a workflow command of GitHub for each span that fails, or for the row itself.

    Parameters
    ----------
    locations
        Id of a segment -> its location; a row without one is on no line of the page.
    """
    location = locations.get(failure.segment_id)
    for span in failure.spans or (None,):
        text = failure.says if span is None else _span_words(span)
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
    properties: dict[str, object] = {}
    if location is not None:
        properties["file"] = location.file
        if location.line is not None:
            properties["line"] = location.line
    properties["title"] = title
    named = ",".join(
        f"{name}={_escaped(str(value), _PROPERTY)}" for name, value in properties.items()
    )
    return f"::error {named}::{_escaped(message, _DATA)}"


def row_name(failure: Failure) -> str:
    """Return the id and the aspect of a row, and its system unless the id says it."""
    names: Sequence[str] = (failure.segment_id, failure.system, failure.aspect)
    if not failure.system or failure.system in failure.segment_id:
        names = (failure.segment_id, failure.aspect)
    return one_line(", ".join(names))


def span_message(span: ErrorSpan) -> str:
    """Return what is wrong with a span: its quote, and why it is an error."""
    quote = f"'{one_line(span.text)}'" if span.text else "no place"
    return f"{quote}: {one_line(span.explanation)}" if span.explanation else quote


def _span_words(span: ErrorSpan) -> str:
    facts = [_severity(span)]
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
