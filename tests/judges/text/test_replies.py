"""Judging the replies of an agent one by one."""

from spanjury.judges.core import Aspect, ErrorSpan, Located, Outcome, Report, Segment, ToolCall
from spanjury.judges.core.trajectory import Trajectory, Turn
from spanjury.judges.core.transcript import segment_of
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text.replies import by_reply, stating

CALL = ToolCall(call_id="", name="hours", arguments='{"place": "museum"}')
SEGMENT = segment_of(
    Trajectory(
        turns=(
            Turn(role="user", text="When does the museum open?"),
            Turn(role="assistant", text="Let me look that up.", calls=(CALL,)),
            Turn(role="tool", text="10:00"),
            Turn(role="assistant", text="It opens at 9. Shall I book?"),
            Turn(role="user", text="No, thanks."),
            Turn(role="assistant", text="You're welcome!"),
        )
    )
)
GROUNDEDNESS = Catalogue.load().aspect("agent", "groundedness")


async def test_a_reply_is_judged_beside_what_came_before_it() -> None:
    judged: list[Segment] = []

    async def assess(text: Segment, aspect: Aspect) -> Report:
        del aspect
        judged.append(text)
        start = text.output.index("9")
        span = ErrorSpan(
            text="9",
            explanation="It is 10.",
            severity=4,
            start=start,
            end=start + 1,
            located=Located.EXACT,
        )
        return Report(score=2.0, spans=(span,), error_probability=0.75)

    report = await by_reply(SEGMENT, GROUNDEDNESS, assess, max_spans=8)
    (reply,) = judged
    assert reply.output.split() == ["It", "opens", "at", "9."]
    assert list(reply.inputs) == ["User [1]", "Result [3]", "Calls [2]"]
    (span,) = report.spans
    assert SEGMENT.output[span.start : span.end] == "9"
    assert report.error_probability == 0.75


async def test_replies_that_state_nothing_are_not_judged() -> None:
    async def assess(text: Segment, aspect: Aspect) -> Report:
        raise AssertionError((text, aspect))

    turns = (Turn(role="user", text="Hi."), Turn(role="assistant", text="What can I do for you?"))
    segment = segment_of(Trajectory(turns=turns))
    report = await by_reply(segment, GROUNDEDNESS, assess, max_spans=8)
    assert report.outcome is Outcome.ABSTAINED


def test_promises_and_questions_state_nothing() -> None:
    assert not stating("I'll book that for you. Which day would suit you?").strip()
    assert stating("The museum is closed on Mondays.").strip()
