"""The judge `likelihood` on a real model, in this process and behind llama.cpp's server."""

import pytest

from spanjury import find_aspect, open_panel
from spanjury.judges.core import Report, Segment

pytestmark = [pytest.mark.asyncio_only, pytest.mark.e2e]

ARTICLE = (
    "The council of Marston has bought the old railway bridge for one pound. It was built in 1932"
    " and closed after a flood two years ago. Engineers want to reopen it to cyclists in spring."
)
CONSISTENCY = find_aspect("summarization", "consistency")


async def assess(model: str, *outputs: str) -> list[Report]:
    async with open_panel(judges=["likelihood:spans=true"], models=[model]) as panel:
        segments = [
            Segment(segment_id="1", output=output, inputs={"Article": ARTICLE})
            for output in outputs
        ]
        reports = [await panel.assess(segment, CONSISTENCY) for segment in segments]
    return [report.seats[0].report for report in reports]


@pytest.mark.parametrize("model", ["local/embedded", "embedded"])
async def test_a_summary_scores_above_one_with_a_stranger_in_it(model: str) -> None:
    claim = "The council of Marston has bought the old railway bridge for one pound."
    invented = "The actress Olivia Grant has bought the old railway bridge for one pound."
    faithful, other = await assess(model, claim, invented)
    assert faithful.score is not None
    assert other.score is not None
    assert faithful.spans == ()
    assert faithful.score > other.score
    assert any("Grant" in span.text or "Olivia" in span.text for span in other.spans)
