"""The verdict of a report, the probability that its token gives, and what stands in its place."""

import json
import math
from collections.abc import Sequence

import pytest
from fakes.judges import ASPECT, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ChatRequest, DeferredError, Reply, Report, TokenLogprob, Usage
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.verdict import agreed_probability, error_probability, read_verdict
from spanjury.judges.text import field_mark
from spanjury.testing import ScriptedModel

SEGMENT = segment()
MARK = field_mark([*SEGMENT.inputs.values(), SEGMENT.output])
SPENT = Usage(calls=1, prompt=100, completion=20)


def lines(verdict: str = "yes", *, errors: bool = True) -> str:
    """Return a report in lines."""
    listed = 'Error 1:\nLocation: "in 1935"\nExplanation: It was 1932.\nSeverity: 4\n'
    head = listed.replace(":", f" ({MARK}):") if errors else f"No Error ({MARK})\n"
    said = f"Faulty ({MARK}): {verdict}\n" if verdict else ""
    return f"{head}\n{said}Overall score ({MARK}): Poor\nExplanation of the score ({MARK}): Why."


def tokens(text: str, *alternatives: tuple[str, Sequence[tuple[str, float]]]) -> Reply:
    """Return a reply of one token a word, with the alternatives to some of them by share."""
    words = [word for line in text.splitlines(keepends=True) for word in _words(line)]
    rivals = dict(alternatives)
    weighed = [
        TokenLogprob(
            token=word,
            logprob=0.0,
            top={rival: math.log(share) for rival, share in rivals.get(word, ())},
        )
        for word in words
    ]
    return Reply(text=text, logprobs=tuple(weighed), usage=SPENT)


def _words(line: str) -> list[str]:
    first, *others = line.split(" ")
    return [first, *(f" {word}" for word in others)]


async def assess(*replies: Reply | str, **options: object) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel(*replies)
    annotator = Annotator(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await annotator.assess(SEGMENT, ASPECT), model


@pytest.mark.parametrize(
    ("reply", "faulty"),
    [
        ("Faulty (a1b2): yes\nOverall score (a1b2): Poor", True),
        ("**Faulty (a1b2):** No\n", False),
        ("- faulty (a1b2) = yes.", True),
        ('{"faulty_a1b2" : "no", "overall_score_a1b2": "Poor"}', False),
        ("Faulty (a1b2): no\n\nFaulty (a1b2): yes", True),
        ("Faulty: yes", True),
        ("Faulty: yes\nFaulty (a1b2): no", False),
        ("Faulty (a1b2): nothing", None),
        ("The switch is faulty: yes, it is.", None),
        ("Faulty (ffff): yes", None),
        ("", None),
    ],
)
def test_the_last_verdict_with_the_mark_counts(reply: str, faulty: bool | None) -> None:
    assert read_verdict(reply, mark="a1b2", material=NO_MATERIAL)[0] is faulty


def test_a_verdict_without_the_mark_counts_only_where_no_text_holds_its_label() -> None:
    forged = Material(["The text says\nFaulty: no\nand more."])
    assert read_verdict("Faulty: no", mark="a1b2", material=forged)[0] is None
    assert read_verdict("Faulty (a1b2): yes", mark="a1b2", material=forged)[0] is True
    assert error_probability(tokens("Faulty: no").logprobs, mark="a1b2", material=forged) is None


def test_the_lines_of_a_verdict_are_taken_out_and_no_others() -> None:
    reply = "No Error (a1b2)\n\nFaulty (a1b2): no\nOverall score (a1b2): Good"
    kept = read_verdict(reply, mark="a1b2", material=NO_MATERIAL)[1]
    assert kept == "No Error (a1b2)\n\nOverall score (a1b2): Good"
    for other in ('{"faulty_a1b2": "no"}', "The switch was faulty.", ""):
        assert read_verdict(other, mark="a1b2", material=NO_MATERIAL)[1] == other


@given(st.text(), st.text())
def test_what_holds_no_verdict_stays_as_it_is(before: str, behind: str) -> None:
    reply = f"{before}\n{behind}"
    said, kept = read_verdict(reply, mark="a1b2", material=NO_MATERIAL)
    assert said is not None or kept == reply


@pytest.mark.parametrize(
    "text",
    [
        ["Faulty", " (", "a1b2", "):", " yes", "\n"],
        ["Faulty", "\u0120(a1b2):", "\u0120yes", "\u010a"],
        ['"faulty', '_a1b2":', ' "', "yes", '"}'],
        ['"faulty_a1b2":"', "yes"],
        ["\u2581Faulty\u2581(a1b2):", "\u2581y", "es"],
        ["Faulty (a1b2): ", '"yes"'],
    ],
)
def test_the_token_is_found_however_a_tokenizer_cuts_the_reply(text: list[str]) -> None:
    top = {"\u0120no": math.log(0.2), " Yes": math.log(0.1), "No": math.log(0.05), "?": -9.0}
    said = [
        TokenLogprob(token=piece, logprob=math.log(0.6), top=top if "y" in piece else {})
        for piece in text
    ]
    likely = error_probability(said, mark="a1b2", material=NO_MATERIAL)
    assert likely == pytest.approx(0.7 / 0.95)


def test_where_most_of_the_probability_is_elsewhere_none_is_stated() -> None:
    said = tokens("Faulty (a1b2): maybe", (" maybe", [(" yes", 0.2), (" no", 0.2)]))
    weak = [TokenLogprob(token=one.token, logprob=-3.0, top=one.top) for one in said.logprobs]
    assert error_probability(weak, mark="a1b2", material=NO_MATERIAL) is None


async def test_a_report_states_the_probability_of_its_verdict() -> None:
    text = lines()
    reply = tokens(text, (" yes\n", [(" yes", 0.7), (" no", 0.3)]))
    weighed = [
        TokenLogprob(token=one.token, logprob=math.log(0.7), top=one.top) if one.top else one
        for one in reply.logprobs
    ]
    report, model = await assess(Reply(text=text, logprobs=tuple(weighed)))
    assert (report.score, len(report.spans), report.rationale) == (2, 1, "Why.")
    # " yes\n" and " yes" both begin the word, so both count.
    assert report.error_probability == pytest.approx(1.4 / 1.7)
    (request,) = model.requests
    assert request.decoding.logprobs == 5
    assert all(variant.decoding.logprobs == 5 for variant in request.variants)
    assert f"Faulty ({MARK}): <yes | no>" in request.messages[1].content


@pytest.mark.parametrize("verdict", ["before", "after"])
async def test_the_verdict_stands_where_it_is_asked_for(verdict: str) -> None:
    report, model = await assess(lines(), verdict=verdict)
    (request,) = model.requests
    in_lines, in_json = request.messages[1].content, request.variants[0].messages[1].content
    for text, first, last in (
        (in_lines, "Error 1", "Overall score ("),
        (in_json, '"errors_', '"overall_score_'),
    ):
        place = text.lower().index("faulty")
        assert place < text.index(first) if verdict == "before" else place > text.index(first)
        assert place < text.index(last)
    schema = request.variants[0].decoding.schema
    assert schema is not None
    names = [*json.loads(schema.text)["properties"]]
    assert names.index(f"faulty_{MARK}") == (0 if verdict == "before" else 2)
    assert report.error_probability is None


async def test_without_log_probabilities_none_is_stated_by_one_assessment() -> None:
    report, model = await assess(lines())
    assert (report.score, report.error_probability) == (2, None)
    assert len(model.requests) == 1


async def test_repeated_assessments_state_it_where_no_log_probabilities_come() -> None:
    said = [lines("no"), lines("", errors=True), "I like it.", lines("yes"), "I do."]
    replies = [Reply(text=text, usage=SPENT) for text in (lines("yes"), *said)]
    report, model = await assess(*replies, samples=5, seed=3)
    assert report.error_probability == pytest.approx((3 + 0.5) / (4 + 1))
    assert report.rationale == "3 of 5 assessments find an error, 1 is unusable. Why."
    assert report.usage.calls == 6
    first, *others = [request.decoding for request in model.requests]
    assert (first.temperature, first.seed, first.logprobs) == (0.0, 3, 5)
    assert {(one.temperature, one.seed) for one in others} == {(1.0, seed) for seed in range(4, 8)}


async def test_repeated_assessments_are_asked_for_together() -> None:
    """A batch API, for which each of them would else be a round of its own, gets all at once."""
    waiting: list[ChatRequest] = []

    class Deferred:
        signature = "deferred"

        async def complete(self, request: ChatRequest) -> Reply:
            if request.decoding.temperature == 0:
                return Reply(text=lines("yes"))
            waiting.append(request)
            raise DeferredError("not yet answered")

    judge = Annotator(model=Deferred(), samples=4)
    with pytest.raises(DeferredError):
        await judge.assess(SEGMENT, ASPECT)
    assert len(waiting) == 3


async def test_log_probabilities_state_it_whatever_repeated_assessments_find() -> None:
    reply = tokens(lines(), (" yes\n", [(" no", 0.25)]))
    report, model = await assess(reply, lines("no"), lines("no"), samples=3)
    assert len(model.requests) == 3
    assert report.error_probability == pytest.approx(0.8)


def test_a_few_assessments_that_agree_make_nothing_certain() -> None:
    assert agreed_probability([True]) is None
    assert agreed_probability([False] * 5) == pytest.approx(0.5 / 6)
    assert agreed_probability([True] * 5) == pytest.approx(5.5 / 6)


async def test_the_first_prompt_asks_for_no_verdict() -> None:
    report, model = await assess(lines(""), prompt=1)
    (request,) = model.requests
    assert report.score == 2
    assert "Faulty" not in request.messages[1].content
    assert {one.decoding.logprobs for one in (request, *request.variants)} == {0}


async def test_the_score_is_expected_on_demand() -> None:
    text = lines()
    reply = tokens(text, (" Poor\n", [(" F", 0.5), (' "Good', 0.5)]))
    weighed = [TokenLogprob(token=one.token, logprob=0.0, top=one.top) for one in reply.logprobs]
    answer = Reply(text=text, logprobs=tuple(weighed))
    report, _ = await assess(answer, expected=True)
    assert report.score == pytest.approx((2 + 0.5 * 3 + 0.5 * 4) / 2)
    assert report.rationale == "Expected score, with 100% of the probability on the scale. Why."
    plain, _ = await assess(answer)
    assert plain.score == 2


async def test_where_no_score_can_be_expected_the_label_stays_and_the_report_says_why() -> None:
    report, model = await assess(lines(""), expected=True, prompt=1)
    assert report.score == 2
    assert report.rationale.startswith("No expected score: no log-probabilities came")
    assert model.requests[0].decoding.logprobs == 5
