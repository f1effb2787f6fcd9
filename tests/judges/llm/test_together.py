"""Several aspects in one call: what is asked, and what the report on each aspect says."""

import json
import math
import re
from collections.abc import Sequence

import pytest
from anyio import create_task_group
from fakes.judges import segment

from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    Outcome,
    PermanentModelError,
    Reply,
    Report,
    TokenLogprob,
    Usage,
    signature,
)
from spanjury.judges.llm.together import TogetherJudge
from spanjury.judges.tasks import Catalogue

FLUENCY, COHERENCE, CONSISTENCY = (
    Catalogue.load().aspect("summarization", name)
    for name in ("fluency", "coherence", "consistency")
)
TEXT = segment()
BOTH = [("fluency", "no", "Excellent"), ("coherence", "yes", "Poor")]
_WORDS = re.compile(r"\w+|\W")


class Reviewer:
    """A model that gives one review to every request, under the mark of the request.

    Each word of it has the probability `sure`; its rival is the other word of a verdict.
    """

    def __init__(
        self,
        verdicts: Sequence[tuple[str, str, str]] = BOTH,
        *,
        sure: float = 0,
        lists: bool = True,
    ) -> None:
        self.requests: list[ChatRequest] = []
        self.fails = False
        self.said: str | None = None
        self._sure = sure
        self._said = {
            "problems": [
                {
                    "aspect": name,
                    "location": "in 1935",
                    "explanation": f"Bad {name}.",
                    "severity": 9,
                }
                for name, faulty, _ in verdicts
                if faulty == "yes" and lists
            ],
            "verdicts": [
                {"aspect": name, "explanation": f"It is {score}.", "faulty": faulty, "score": score}
                for name, faulty, score in verdicts
            ],
        }

    @property
    def signature(self) -> str:
        return signature("reviewer")

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        if self.fails:
            raise PermanentModelError("no such model")
        if self.said is not None:
            return Reply(text=self.said, usage=Usage(calls=1))
        (*_, mark) = re.findall(r"answer_([0-9a-f]+)", request.messages[-1].content)
        text = json.dumps({f"answer_{mark}": self._said})
        return Reply(text=text, usage=Usage(calls=1), logprobs=tuple(self._logprobs(text)))

    def _logprobs(self, text: str) -> list[TokenLogprob]:
        if not self._sure:
            return []
        sure, rival = math.log(self._sure), math.log(1 - self._sure)
        others = {"yes": "no", "no": "yes"}
        return [
            TokenLogprob(token=word, logprob=sure, top={word: sure, others.get(word, "-"): rival})
            for word in _WORDS.findall(text)
        ]


async def reports(judge: TogetherJudge, *aspects: Aspect) -> list[Report]:
    """Assess the aspects at once, as a run does."""
    made: dict[str, Report] = {}

    async def assess(aspect: Aspect) -> None:
        made[aspect.name] = await judge.assess(TEXT, aspect)

    async with create_task_group() as group:
        for aspect in aspects:
            group.start_soon(assess, aspect)
    return [made[aspect.name] for aspect in aspects]


async def test_one_call_makes_the_reports_of_all_aspects() -> None:
    model = Reviewer()
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    assert (fluency.score, fluency.spans, fluency.rationale) == (5, (), "It is Excellent.")
    (span,) = coherence.spans
    assert (coherence.score, span.text, span.explanation) == (2, "in 1935", "Bad coherence.")
    assert span.severity is None, "9 is no severity"
    assert len(model.requests) == fluency.usage.calls + coherence.usage.calls == 1
    prompt = model.requests[0].messages[-1].content
    assert FLUENCY.definition in prompt
    assert COHERENCE.definition in prompt
    assert model.requests[0].decoding.max_tokens == 2 * 768


async def test_each_aspect_has_the_probability_of_its_own_verdict() -> None:
    judge = TogetherJudge(model=Reviewer(sure=0.9), aspects="coherence+fluency")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    assert fluency.error_probability == pytest.approx(0.1)
    assert coherence.error_probability == pytest.approx(0.9)


async def test_an_aspect_that_sees_other_inputs_is_asked_about_alone() -> None:
    model = Reviewer([*BOTH, ("consistency", "no", "Good")])
    judge = TogetherJudge(model=model, aspects="fluency+coherence+consistency")
    (report,) = await reports(judge, CONSISTENCY)
    assert report.score == 4
    await reports(judge, FLUENCY)
    with_source, without = (request.messages[-1].content for request in model.requests)
    assert "It opened in 1932." in with_source
    assert FLUENCY.definition not in with_source
    assert "It opened in 1932." not in without
    assert COHERENCE.definition in without


async def test_an_aspect_without_a_verdict_or_label_has_no_score_and_others_have_theirs() -> None:
    model = Reviewer([("Fluency", "no", "excellent"), ("coherence", "no", "Nice")])
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    assert fluency.score == 5
    assert (coherence.outcome, coherence.score) == (Outcome.UNPARSEABLE, None)
    assert "not a label of the scale" in coherence.reason
    judge = TogetherJudge(model=Reviewer(BOTH[:1]), aspects="fluency+coherence")
    assert "no verdict on coherence" in (await judge.assess(TEXT, COHERENCE)).reason


async def test_an_aspect_with_two_scores_has_none() -> None:
    model = Reviewer([*BOTH, ("coherence", "no", "Excellent")])
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    assert (fluency.score, coherence.score) == (5, None)
    assert coherence.reason == "the reply gives several scores for coherence"


async def test_a_verdict_of_an_error_that_is_not_listed_leaves_the_text_unverified() -> None:
    verdicts = [("fluency", "no", "Excellent"), ("coherence", "yes", "Excellent")]
    model = Reviewer(verdicts, lists=False)
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    (doubt,) = coherence.unverified
    assert (fluency.unverified, doubt.text, doubt.probability) == ((), TEXT.output, 0.5)


async def test_an_aspect_is_recognised_in_any_spelling_and_problems_of_others_are_named() -> None:
    model = Reviewer([*BOTH, ("## Fluency:", "yes", "Excellent"), ("style", "yes", "Poor")])
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    fluency, coherence = await reports(judge, FLUENCY, COHERENCE)
    assert [span.explanation for span in fluency.spans] == ["Bad ## Fluency:."]
    for report in (fluency, coherence):
        assert "A problem under the unknown name 'style' counts for no aspect" in report.rationale
    schema = model.requests[0].variants[0].decoding.schema
    assert schema is not None
    definitions = json.loads(schema.text)["$defs"]
    for name in ("AspectProblem", "AspectVerdict"):
        assert definitions[name]["properties"]["aspect"]["enum"] == ["fluency", "coherence"]


async def test_an_unreadable_reply_is_asked_for_once_for_all_aspects() -> None:
    model = Reviewer()
    model.said = "Nothing to say."
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    made = await reports(judge, FLUENCY, COHERENCE)
    assert {report.outcome for report in made} == {Outcome.UNPARSEABLE}
    assert sum(report.usage.calls for report in made) == len(model.requests) == 2
    model.said = None
    assert (await judge.assess(TEXT, COHERENCE)).score == 2


async def test_after_a_failure_the_next_aspect_asks_again() -> None:
    model = Reviewer()
    model.fails = True
    judge = TogetherJudge(model=model, aspects="fluency+coherence")
    with pytest.raises(PermanentModelError):
        await judge.assess(TEXT, FLUENCY)
    model.fails = False
    assert (await judge.assess(TEXT, COHERENCE)).score == 2


def test_options_are_checked_and_named_in_the_signature() -> None:
    model = Reviewer()
    for wrong in ({"aspects": " + "}, {"aspects": "fluency", "max_errors": 0}):
        with pytest.raises(ValueError, match=[*wrong][-1]):
            TogetherJudge(model=model, **wrong)
    signatures = {
        TogetherJudge(model=model, aspects=names).signature for names in ("fluency", "coherence")
    }
    assert len(signatures) == 2
