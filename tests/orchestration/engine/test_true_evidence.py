"""Evidence in a panel: what no input holds is not passed on, and what seats share is given once."""

from dataclasses import replace

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment

from spanjury.judges.core import Evidence, JudgeError, Report
from spanjury.orchestration.engine.seats import checked_report

TEXT = segment()  # whose Article is "It opened in 1932."
DATE = Evidence(input="Article", start=13, end=17, text="1932")
VERB = Evidence(input="Article", start=3, end=9, text="opened")


def report(*evidence: Evidence) -> Report:
    return Report(score=2, spans=(replace(mark(TEXT.output, "1935"), evidence=evidence),))


@pytest.mark.parametrize(
    "false",
    [
        Evidence(input="Article", start=12, end=16, text="1932"),
        Evidence(input="Article", start=13, end=17, text="1935"),
        Evidence(input="Article", start=113, end=117, text="1932"),
        Evidence(input="Context", start=13, end=17, text="1932"),
        Evidence(input="Article [1]", start=13, end=17, text="1932"),
    ],
)
def test_evidence_that_no_input_holds_is_not_passed_on(false: Evidence) -> None:
    assert checked_report(report(DATE), TEXT, ASPECT).spans[0].evidence == (DATE,)
    assert checked_report(report(false), TEXT, ASPECT).spans == ()
    assert checked_report(report(DATE, false), TEXT, ASPECT).spans == ()


def test_invalid_evidence_costs_the_report() -> None:
    with pytest.raises(JudgeError, match="not an Evidence"):
        checked_report(report("the article"), TEXT, ASPECT)  # type: ignore[arg-type]  # another's code


async def test_spans_that_are_merged_keep_the_evidence_of_all_and_each_place_once() -> None:
    judges = FixedJudge(says=report(DATE)), FixedJudge(says=report(VERB, DATE))
    (span,) = (await panel_of(*judges).assess(TEXT, ASPECT)).spans
    assert (span.found_by, span.evidence) == (("seat0", "seat1"), (DATE, VERB))
