"""Evidence of an error span as rows of JSON hold it: in results, tables and marked texts."""

from spanjury.judges.core import ErrorSpan


def evidence_rows(span: ErrorSpan) -> list[dict[str, object]]:
    """Return each place, its offsets half-open code points of the input that it names."""
    return [
        {
            "input": evidence.input,
            "start": evidence.start,
            "end": evidence.end,
            "text": evidence.text,
        }
        for evidence in span.evidence
    ]
