"""Invisible characters: what is removed, and that all offsets are those of the original text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ErrorSpan, Evidence, Located, Report, Segment, Unverified
from spanjury.judges.text.invisible import without_invisible

NOTHING = Report(score=5.0)


async def seen(text: str) -> str:
    """Return the output that a judge sees of `text`."""
    outputs: list[str] = []

    async def assess(segment: Segment) -> Report:
        outputs.append(segment.output)
        return NOTHING

    assert await without_invisible(Segment(output=text), assess) is not None
    return outputs[0]


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("al\u200bcohol", "alcohol"),
        ("\ufeffal\u200c\u200d\u2060co\u00adhol\u200b.", "alcohol."),
        ("caf\u00e9\u200ds", "caf\u00e9s"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
        ("\u0915\u094d\u200d\u0937", None),
        ("\U0001f469\u200d\U0001f4bb", None),
        ("plain", None),
    ],
)
async def test_characters_that_show_nothing_are_removed_except_where_a_script_needs_them(
    text: str, visible: str | None
) -> None:
    assert await seen(text) == (text if visible is None else visible)


@given(st.text(alphabet="ab \u200b\u00ad\ufeff", min_size=1), st.data())
async def test_offsets_are_those_of_the_original_text(text: str, data: st.DataObject) -> None:
    segment = Segment(output=text, inputs={"Article": text})

    async def assess(visible: Segment) -> Report:
        output = visible.output
        if not output:
            return NOTHING
        start = data.draw(st.integers(0, len(output) - 1))
        end = data.draw(st.integers(start + 1, len(output)))
        quote = output[start:end]
        marked = ErrorSpan(
            text=quote,
            explanation="wrong",
            severity=3,
            start=start,
            end=end,
            located=Located.EXACT,
            evidence=(Evidence(input="Article", start=start, end=end, text=quote),),
        )
        omission = ErrorSpan(text="", explanation="missing", severity=3)
        unverified = Unverified(start=start, end=end, text=quote, probability=0.5, reason="new")
        return replace(NOTHING, spans=(marked, omission), unverified=(unverified,))

    report = await without_invisible(segment, assess)
    intervals = [
        *((span.start, span.end, span.text) for span in report.spans if span.text),
        *((each.start, each.end, each.text) for span in report.spans for each in span.evidence),
        *((each.start, each.end, each.text) for each in report.unverified),
    ]
    for start, end, quote in intervals:
        assert text[start:end] == quote
        assert not {quote[0], quote[-1]} & {"\u200b", "\u00ad", "\ufeff"}
