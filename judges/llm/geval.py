"""The judge `geval`: a language model that gives only a score.

Source: Liu et al. (2023), G-Eval, as used by Wang et al. (2024), DHP (section 3.2, Appendices D and
E). It does not look for error spans: its reports have none, whatever the text, and their rationale
says so. After a reply without a score the request is repeated once; a second one is reported as
unparseable. A reply that breaks off or declines also gives a report without a score. It raises
`ModelError` if the model gives no reply at all.

Of the prompt's parts (section 2 of G-Eval) the texts come first and the parts that depend on the
aspect last, so that servers that cache the beginning of a prompt can reuse it for the next aspect
of the same segment. The wording is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    Finish,
    Message,
    Outcome,
    Reasoning,
    Reply,
    Report,
    Segment,
    Usage,
    fingerprint,
    signature,
    thought_tokens,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.llm.asking import Answer, AskedOnce, ask, redrawn
from spanjury.judges.llm.expected_score import expected_score
from spanjury.judges.llm.geval_reply import SCORE_READER_VERSION, read_score
from spanjury.judges.llm.grades import Grade, numbers
from spanjury.judges.llm.json_form import read_score_field, read_steps, score_schema, steps_schema
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.prompt import (
    alternatives,
    described_task,
    everything,
    shown_message,
    texts_in_context,
)
from spanjury.judges.llm.wording import fill_template, read_template
from spanjury.judges.tasks import describe
from spanjury.judges.text import fence, field_mark

_NO_SPANS = "A score alone: no error spans were looked for."


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Evaluation steps for a prompt, or the reason why there are none.

    Source: Liu et al. (2023), G-Eval, section 2.1, "Auto chain-of-thoughts".
    """

    text: str
    problem: str = ""


def _read(reply: Reply) -> Steps:
    if reply.finish is Finish.LENGTH:
        return Steps(text="", problem="the steps broke off")
    listed = read_steps(reply.text)
    text = (without_reasoning(reply.text) or "").strip() if listed is None else numbered(listed)
    return Steps(text=text, problem="" if text else "there are no steps in it")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """The aspect, and the texts from which no score may be copied.

    `mark` is that of an answer in JSON; empty if none may be requested.
    """

    aspect: Aspect
    material: Material
    mark: str

    def read(self, reply: Reply) -> Grade:
        scale, cut = self.aspect.scale, reply.finish is Finish.LENGTH
        if self.mark:
            grade = read_score_field(
                reply.text, scale=scale, material=self.material, mark=self.mark
            )
            if grade is not None:
                return grade
        return read_score(reply.text, aspect=self.aspect, material=self.material, cut=cut)


@dataclass(frozen=True, slots=True, kw_only=True)
class GEval:
    """Ask a model for a score on the scale of the aspect, as a number.

    Several replies are summed as integers: their mean is one division, and the rationale
    states the sum over the number of replies (``21/5``), so that ties stay ties.

    Parameters
    ----------
    steps
        Evaluation steps made from the aspect's definition, worst and best ("ours", the
        default), or written by the model itself ("auto") once per aspect and judge. The
        signature cannot contain steps that are not yet written: a resumed run has the same
        steps because the model's replies are stored with the run. Without that memory, or if
        failures are retried, which repeats all requests, judges with the same signature may
        follow different steps.
    repeats
        Number of replies that are averaged. At temperature 0 they would be equal, so only one
        is requested.
    temperature
        Sampling temperature; None for 0 with one repeat and 1 with more.
    seed
        Seed of the first reply; each further reply adds 1. None leaves seeds to the server.
    max_tokens
        Maximum number of tokens of a reply, reasoning included; doubled once for a reply that
        broke off.
    logprobs
        Ask for log-probabilities, at temperature 0. If they are returned and most of the
        probability lies on the scale, the score is their expectation, instead of repeats;
        otherwise the rationale says why.
    alternatives
        Number of most likely tokens whose log-probabilities are requested; servers have limits.
    form
        Have the server constrain the reply to a number of the scale by a JSON schema ("schema")
        or a GBNF grammar ("grammar"), or only describe it in the prompt ("text"). "auto" (the
        default) uses the first of them that the model's server does not refuse; with `logprobs`
        it is "text", since tokens of an object might be mistaken for the score. Steps written by a
        model are constrained to a list by a schema, or described in the prompt.
    reasoning
        Effort of reasoning before the reply, as for the annotator.
    """

    model: ChatModel
    steps: Literal["ours", "auto"] = "ours"
    repeats: int = 1
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = 1024
    logprobs: bool = False
    alternatives: int = 20
    form: Literal["auto", "schema", "grammar", "text"] = "auto"
    reasoning: Reasoning | None = None
    _steps: AskedOnce[ChatRequest, Answer[Steps]] = field(
        init=False, repr=False, compare=False, default_factory=AskedOnce
    )

    def __post_init__(self) -> None:
        if min(self.repeats, self.alternatives) < 1:
            raise ValueError(
                f"repeats and alternatives must be positive: {self.repeats}, {self.alternatives}"
            )
        self._decoding()  # raises for a bad option now, not at the first segment

    @property
    def signature(self) -> str:
        """Model, prompts, decoding, repeats, and the code that asks and reads."""
        decoding = self._decoding()
        return signature(
            "geval",
            model=self.model.signature,
            prompt=fingerprint(*map(read_template, _TEMPLATES)),
            steps=self.steps,
            repeats=self.repeats,
            temperature=decoding.temperature,
            seed=decoding.seed,
            max_tokens=self.max_tokens,
            logprobs=self.alternatives if self.logprobs else 0,
            form=self.form,
            parser=SCORE_READER_VERSION,
            code=code_digest(__name__),
            **({} if self.reasoning is None else {"reasoning": self.reasoning}),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the prompt, and of that for the steps if the model writes them."""
        ours = self.steps == "ours"
        steps = our_steps(segment, aspect) if ours else ""
        request = canonical(self._request(segment, aspect, steps=steps))
        before = b"" if ours else canonical(self._steps_request(aspect))
        return digest(before, request, canonical(aspect))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's score; raise `ModelError` if it gives no reply."""
        if self.steps == "ours":
            return await self._score(segment, aspect, steps=our_steps(segment, aspect))
        written = await self._written_steps(aspect)
        if written.outcome is Outcome.SCORED:
            steps, usage = written.reading.text, written.usage
            return await self._score(segment, aspect, steps=steps, usage=usage)
        why = f"no evaluation steps: {written.reading.problem or written.reason}"
        return replace(written.unscored, reason=why)

    async def _score(
        self, segment: Segment, aspect: Aspect, *, steps: str, usage: Usage = Usage()
    ) -> Report:
        """Score by `steps`; `usage` is the cost of steps written just now."""
        request = self._request(segment, aspect, steps=steps)
        texts = texts_in_context(segment, aspect).values()
        mark = field_mark(texts) if self._in_json else ""
        case = _Case(aspect=aspect, material=Material(texts), mark=mark)
        if self.logprobs:
            return await self._expected(request, case, usage=usage)
        return await self._averaged(request, case, usage=usage)

    @property
    def _in_json(self) -> bool:
        return self.form == "schema" or (self.form == "auto" and not self.logprobs)

    def _request(self, segment: Segment, aspect: Aspect, *, steps: str) -> ChatRequest:
        plain = ChatRequest(
            messages=ask_for_score(segment, aspect, steps=steps), decoding=self._decoding()
        )
        by_grammar = replace(plain, decoding=replace(plain.decoding, grammar=_grammar(aspect)))
        if not self._in_json:
            return by_grammar if self.form == "grammar" else plain
        mark = field_mark(texts_in_context(segment, aspect).values())
        held_to = score_schema(numbers(aspect.scale), mark=mark)
        by_schema = ChatRequest(
            messages=ask_for_score(segment, aspect, steps=steps, mark=mark),
            decoding=replace(plain.decoding, schema=held_to),
        )
        if self.form == "schema":
            return by_schema
        return replace(plain, variants=(by_schema, by_grammar))

    def _steps_request(self, aspect: Aspect) -> ChatRequest:
        decoding = replace(self._decoding(), temperature=0.0)
        plain = ChatRequest(messages=ask_for_steps(aspect), decoding=decoding)
        if not self._in_json:
            return plain
        by_schema = tuple(
            ChatRequest(
                messages=ask_for_steps(aspect, in_json=True),
                decoding=replace(decoding, schema=steps_schema(bounded=bounded)),
            )
            for bounded in (True, False)
        )
        return replace(plain, variants=by_schema)

    async def _written_steps(self, aspect: Aspect) -> Answer[Steps]:
        """Have the steps written, once for all segments; the usage is that of this call only.

        The outcome is not `Outcome.SCORED` if the model declines, or if its second reply has no
        complete steps either. Raises `ModelError` if the model gives no reply.
        """
        request = self._steps_request(aspect)
        written, is_new = await self._steps.value(
            request,
            lambda: ask(
                self.model,
                request,
                read=_read,
                reask=reask_for_steps,
                reask_in_json=partial(reask_for_steps, in_json=True),
            ),
        )
        if written.outcome is not Outcome.SCORED:
            self._steps.forget(request)
        return written if is_new else replace(written, usage=Usage())

    async def _expected(self, request: ChatRequest, case: _Case, *, usage: Usage) -> Report:
        """Score by log-probabilities, or by repeats if that is impossible."""
        likeliest = redrawn(request, partial(replace, temperature=0.0, logprobs=self.alternatives))
        answer = await self._ask(likeliest, case)
        usage += answer.usage
        written = answer.reading.value
        if answer.outcome is not Outcome.SCORED or written is None:
            return replace(answer.unscored, usage=usage)
        expected = expected_score(answer.reply, scale=case.aspect.scale, written=written)
        if expected.value is None:
            alike = request.decoding.temperature == 0
            drawn = (answer,) if alike else ()
            report = await self._averaged(request, case, usage=usage, drawn=drawn)
            why = f"No expected score: {expected.problem}."
            return replace(report, rationale=f"{why} {report.rationale}")
        how = f"Expected score, with {expected.share:.0%} of the probability on the scale."
        return Report(
            score=expected.value,
            rationale=f"{how} {_NO_SPANS}",
            reply=answer.reply.text,
            usage=usage,
        )

    async def _averaged(
        self,
        request: ChatRequest,
        case: _Case,
        *,
        usage: Usage,
        drawn: tuple[Answer[Grade], ...] = (),
    ) -> Report:
        """Score by the mean of replies, including those already `drawn`."""
        draws = list(drawn)
        wanted = self.repeats if request.decoding.temperature else 1
        while len(draws) < wanted:
            answer = await self._ask(_seeded(request, len(draws)), case)
            usage += answer.usage
            if answer.outcome is not Outcome.SCORED:
                return replace(answer.unscored, usage=usage)
            draws.append(answer)
        return _mean(draws, repeats=self.repeats, usage=usage)

    async def _ask(self, request: ChatRequest, case: _Case) -> Answer[Grade]:
        return await ask(
            self.model,
            request,
            read=case.read,
            reask=partial(reask_for_score, aspect=case.aspect),
            reask_in_json=partial(reask_for_score, aspect=case.aspect, in_json=True),
        )

    def _decoding(self) -> Decoding:
        unsaid = 0.0 if self.repeats == 1 else 1.0
        return Decoding(
            temperature=unsaid if self.temperature is None else self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens + thought_tokens(self.reasoning),
            reasoning=self.reasoning,
        )


def _seeded(request: ChatRequest, number: int) -> ChatRequest:
    """Return the request for the reply of this `number`, from 0."""
    seed = request.decoding.seed
    if seed is None:
        return request
    return redrawn(request, partial(replace, seed=seed + number))


def _mean(draws: Sequence[Answer[Grade]], *, repeats: int, usage: Usage) -> Report:
    scores = [score for draw in draws if (score := draw.reading.value) is not None]
    total, count = sum(scores), len(scores)
    if count < repeats:
        how = f"One reply in place of {repeats}, which would be alike at temperature 0."
    elif count == 1:
        how = "One reply."
    else:
        how = f"Mean of {count} replies: {total}/{count} ({', '.join(map(str, scores))})."
    return Report(
        score=total / count,
        rationale=f"{how} {_NO_SPANS}",
        reply="\n".join(draw.reply.text for draw in draws),
        usage=usage,
    )


_TEMPLATES = (
    "geval-system.txt",
    "geval.txt",
    "geval-answer.txt",
    "geval-answer-json.txt",
    "geval-steps.txt",
    "geval-ends.txt",
    "geval-ends-plain.txt",
    "geval-auto.txt",
    "geval-auto-answer.txt",
    "geval-auto-answer-json.txt",
    "geval-reask.txt",
    "geval-reask-json.txt",
    "geval-auto-reask.txt",
    "geval-auto-reask-json.txt",
    "geval.gbnf",
    "score-numeric.txt",
)


def ask_for_score(
    segment: Segment, aspect: Aspect, *, steps: str, mark: str = ""
) -> tuple[Message, ...]:
    """Return the conversation that asks for the score of `segment`, following `steps`.

    With the `mark` of the texts, it asks for a JSON object whose key ends in it.
    """
    texts = texts_in_context(segment, aspect)
    fenced = fence(texts)
    slots = {
        "task_description": described_task(aspect.task, texts),
        "material": fenced.text,
        "mark": fenced.mark,
        "description": describe(aspect),
        "aspect": aspect.spoken,
        "output": aspect.task.output_header,
        "steps": steps,
        "score": fill_template("score-numeric.txt", _ends(aspect)),
        "numbers": ", ".join(numbers(aspect.scale)),
        "code": mark,
    }
    slots["answer"] = fill_template("geval-answer-json.txt" if mark else "geval-answer.txt", slots)
    return (
        Message(role="system", content=read_template("geval-system.txt")),
        shown_message(fill_template("geval.txt", slots), fenced),
    )


def ask_for_steps(aspect: Aspect, *, in_json: bool = False) -> tuple[Message, ...]:
    """Return the conversation that asks for evaluation steps, independent of any segment."""
    answer = "geval-auto-answer-json.txt" if in_json else "geval-auto-answer.txt"
    headers = tuple(aspect.task.input_headers) if aspect.inputs is None else aspect.inputs
    slots = {
        "task_description": aspect.task.description,
        "description": describe(aspect),
        "everything": everything((*headers, aspect.task.output_header)),
        "output": aspect.task.output_header,
        "answer": read_template(answer),
        **_ends(aspect),
    }
    return (Message(role="user", content=fill_template("geval-auto.txt", slots)),)


def our_steps(segment: Segment, aspect: Aspect) -> str:
    """Return evaluation steps made from the aspect's definition, its worst and its best."""
    output = aspect.task.output_header
    slots = {**_ends(aspect), "output": output, "worst": aspect.worst, "best": aspect.best}
    ends = "geval-ends.txt" if aspect.worst and aspect.best else "geval-ends-plain.txt"
    slots |= {
        "everything": everything(tuple(texts_in_context(segment, aspect))),
        "definition": aspect.definition,
        "ends": fill_template(ends, slots),
    }
    return fill_template("geval-steps.txt", slots)


def numbered(steps: Sequence[str]) -> str:
    """Return steps as a numbered list."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def reask_for_score(problem: str, *, aspect: Aspect, in_json: bool = False) -> Message:
    """Return the second request, after a reply without a score."""
    slots = {"problem": problem, "numbers": ", ".join(numbers(aspect.scale))}
    name = "geval-reask-json.txt" if in_json else "geval-reask.txt"
    return Message(role="user", content=fill_template(name, slots))


def reask_for_steps(problem: str, *, in_json: bool = False) -> Message:
    """Return the second request, after a reply without steps."""
    name = "geval-auto-reask-json.txt" if in_json else "geval-auto-reask.txt"
    return Message(role="user", content=fill_template(name, {"problem": problem}))


def _grammar(aspect: Aspect) -> str:
    """Return a GBNF grammar of the numbers requested by `ask_for_score`."""
    return fill_template("geval.gbnf", {"numbers": alternatives(numbers(aspect.scale))})


def _ends(aspect: Aspect) -> dict[str, str]:
    lowest, *_, highest = numbers(aspect.scale)
    return {"low": lowest, "high": highest}
