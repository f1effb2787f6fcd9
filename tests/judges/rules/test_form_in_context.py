"""The form of a sentence in a text that goes on: only what is wrong whatever may follow."""

import pytest

from spanjury.judges.core import ErrorSpan, Segment
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.tasks import Catalogue

FLUENCY = Catalogue.load().aspect("summarization", "fluency")
START = "The mayor of the town opened the new bridge. "


async def spans(output: str, before: str | None) -> tuple[ErrorSpan, ...]:
    report = await FormJudge().assess(Segment(output=output, before=before), FLUENCY)
    assert all(output[span.start : span.end] == span.text for span in report.spans)
    return report.spans


@pytest.mark.parametrize(
    "output",
    ["He said (and he was right.", "She said that “it is late.", "It was late, and the"],
)
async def test_an_end_that_may_come_later_is_no_error_in_a_sentence(output: str) -> None:
    assert await spans(output, None)
    assert await spans(output, "") == ()
    assert await spans(output, START) == ()


async def test_what_was_said_before_is_repetition_and_is_not_marked_itself() -> None:
    (span,) = await spans(START.strip(), START)
    assert (span.start, span.category) == (0, "repetition")
    assert await spans(START.strip(), "") == ()


async def test_errors_before_the_sentence_are_not_reported_again() -> None:
    assert await spans("It is long.", "The the bridge is is open. ") == ()
    (span,) = await spans("It is is long.", "The the bridge is open. ")
    assert span.text == "is is"
