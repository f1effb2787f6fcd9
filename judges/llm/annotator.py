"""The annotator: a language model that marks error spans and scores one aspect.

Source: Kartáč et al. (2025), OpeNLGauge, section 4 ("Annotator models") and Appendix F.
Every readable reply gives a report. After an unreadable reply the request is repeated once; a
second one is reported as unparseable. After a reply that broke off it is repeated once with twice
the tokens; a second one is reported as truncated. It raises `ModelError` if the model gives no
reply at all. `spanjury.judges.llm.rescore` describes how it scores an error list of others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    ErrorSpan,
    Finish,
    Message,
    ModelRefusedError,
    Outcome,
    PermanentModelError,
    Reasoning,
    Reply,
    ReplySchema,
    Report,
    Rescoring,
    RescoringMethod,
    Scale,
    Segment,
    Usage,
    signature,
    thought_tokens,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.core.transcript import searched_first
from spanjury.judges.llm.answer_tokens import RIVALS
from spanjury.judges.llm.asking import Answer, ask, asked_together, redrawn
from spanjury.judges.llm.error_list import cue, render_errors
from spanjury.judges.llm.examples import Examples
from spanjury.judges.llm.expected_score import expected_label
from spanjury.judges.llm.json_form import read_report
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import PARSER_VERSION, located_errors, parse
from spanjury.judges.llm.parsed import ParsedError, ParsedReply
from spanjury.judges.llm.prompt import (
    Prompt,
    PromptOptions,
    PromptWriter,
    grammar,
    prompt_fingerprint,
    reask,
    reask_in_json,
    schema,
    score_words,
)
from spanjury.judges.llm.quoted_evidence import Inputs
from spanjury.judges.llm.rescore import ForcedPrefix, continued, rescored, restated
from spanjury.judges.llm.verdict import (
    agreed_probability,
    error_probability,
    read_verdict,
    verdict_line,
    with_undisclosed,
)
from spanjury.judges.llm.votes import Voted, counted_assessments, voted

_Locate = Callable[[Sequence[ParsedError]], tuple[ErrorSpan, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Ask a model for error spans and a score.

    Parameters
    ----------
    score
        Ask for the score as a label ("verbal", the default) or as a number.
    severity
        Ask for severities as numbers (the default) or as words.
    rules
        Put the rules into the prompt.
    max_errors
        Maximum number of errors that the model may list.
    evidence
        Ask for words of an input with each error, which become its evidence if an input
        contains them.
    temperature, seed, max_tokens
        Decoding parameters; `max_tokens` is doubled once for a reply that broke off.
    prompt
        2 (the default) also asks for a verdict, whether the text has any error; 1 is the prompt
        of earlier releases, without a verdict.
    verdict
        Position of the verdict: "after" the list of errors (the default) or "before" it.
    samples
        Number of assessments, of which the further ones are sampled at a temperature above 0; 1 by
        default. Errors reported by more than half of them are kept, and the score is the median.
        The share of assessments that find an error states its probability if the verdict has none.
    examples
        Texts that people marked; the prompt shows those nearest to the text. None for none.
    shots
        Maximum number of examples shown.
    reasoning
        Effort of reasoning before the reply: "none", "low", "medium", "high" or a number of
        tokens. The tokens for it are added to `max_tokens`. None (the default) leaves it to the
        model.
    expected
        Use as score the mean over the probabilities of the labels, if the server gives them; by
        default the score is the label itself.
    form
        Have the server constrain the reply by a JSON schema ("schema") or a GBNF grammar
        ("grammar"), or only describe its form in the prompt ("text"). "auto" (the default) uses
        the first of them that the model's server does not refuse.
    rescoring
        How an error list that is not the model's own is scored: "continue" has the model
        continue its reply after the list, "restate" asks for the score in a new turn, "auto"
        (the default) restates if continuing is impossible. Models that reason before they
        answer need "restate".
    alternatives
        Number of most likely tokens whose log-probabilities are requested: for the verdict and
        the score, and for the score of such a list, which also gives the expected score. 0 for
        none; None (the default) for 5 with a verdict or `expected`, and otherwise none.
    """

    model: ChatModel
    score: Literal["verbal", "numeric"] = "verbal"
    severity: Literal["numeric", "verbal"] = "numeric"
    rules: bool = True
    max_errors: int = 8
    evidence: bool = False
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 1024
    form: Literal["auto", "schema", "grammar", "text"] = "auto"
    rescoring: Literal["auto", "continue", "restate"] = "auto"
    alternatives: int | None = None
    prompt: Literal[1, 2] = 2
    verdict: Literal["before", "after"] = "after"
    samples: int = 1
    expected: bool = False
    reasoning: Reasoning | None = None
    examples: Examples | None = None
    shots: int = 3
    _options: PromptOptions = field(init=False, repr=False, compare=False)
    _prompts: PromptWriter = field(init=False, repr=False, compare=False)
    _decoding: Decoding = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.prompt not in {1, 2} or self.verdict not in {"before", "after"}:
            raise ValueError(
                f"prompt must be 1 or 2, verdict before or after: {self.prompt!r}, {self.verdict!r}"
            )
        if self.samples < 1 or self.shots < 1:
            raise ValueError(
                f"samples and shots must be positive, got {self.samples!r}, {self.shots!r}"
            )
        options = PromptOptions(
            score=self.score,
            severity=self.severity,
            rules=self.rules,
            max_errors=self.max_errors,
            evidence=self.evidence,
            verdict=self.verdict if self._has_verdict else "none",
        )
        decoding = self._drawn()
        replace(decoding, logprobs=self._rivals)  # raises for a bad number now
        object.__setattr__(self, "_options", options)  # the dataclass is frozen
        examples = partial(self.examples.texts_near, shots=self.shots) if self.examples else None
        prompts = PromptWriter(options, in_json=self._in_json, examples=examples)
        object.__setattr__(self, "_prompts", prompts)
        object.__setattr__(self, "_decoding", decoding)

    @property
    def signature(self) -> str:
        """Model, prompt, decoding, parser and code; other options if not at their default."""
        defaults = {
            "rescoring": "auto",
            "alternatives": None,
            "samples": 1,
            "expected": False,
            "reasoning": None,
        }
        options = {name: getattr(self, name) for name in defaults}
        shown = {"examples": self.examples.digest, "shots": self.shots} if self.examples else {}
        return signature(
            "annotator",
            model=self.model.signature,
            prompt=prompt_fingerprint(self._options),
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            form=self.form,
            parser=PARSER_VERSION,
            code=code_digest(__name__),
            **{name: value for name, value in options.items() if value != defaults[name]},
            **shown,
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the prompt and of everything used to read its replies."""
        contents = (message.content for message in self._prompts.write(segment, aspect).messages)
        return digest(*contents, _ASPECTS.of(aspect), segment.output)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's report; raise `ModelError` if it gives no reply."""
        prompt = self._prompts.write(segment, aspect)
        material = Material(prompt.shown)
        request = self._request(prompt, aspect)
        read = partial(self._read, prompt=prompt, scale=aspect.scale, material=material)
        answer = await self._answer(request, read=read, mark=prompt.mark)
        shown = aspect.view(segment.inputs) if prompt.quotable else {}
        locate = partial(
            located_errors,
            output=segment.output,
            first=searched_first(segment, aspect),
            inputs=Inputs(shown),
        )
        report = _report(answer, locate=locate)
        if report.outcome is not Outcome.SCORED:
            return report
        if self.expected:
            words = score_words(aspect, self._options)
            report = _expected(report, answer.reply, mark=prompt.mark, words=words)
        likely = None
        if self._has_verdict:
            likely = error_probability(answer.reply.logprobs, mark=prompt.mark, material=material)
        if likely is not None:
            report = replace(report, error_probability=likely)
        if self.samples == 1:
            is_faulty = answer.reading.faulty
            return with_undisclosed(report, output=segment.output) if is_faulty else report
        again = partial(self._answer, read=read, mark=prompt.mark)
        further = await asked_together(
            [partial(again, _drawn_again(request, number)) for number in range(1, self.samples)]
        )
        return _agreed(report, [answer, *further], locate=locate, is_expected=self.expected)

    async def _answer(
        self, request: ChatRequest, *, read: Callable[[Reply], ParsedReply], mark: str
    ) -> Answer[ParsedReply]:
        return await ask(
            self.model,
            request,
            read=read,
            reask=partial(reask, mark=mark, verdict=self._options.verdict),
            reask_in_json=reask_in_json,
        )

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that the model gives after `spans`, as if it had listed them.

        Raises `ModelError` if it gives no reply, or if it cannot continue a reply and `rescoring`
        does not allow to restate.
        """
        prefix = self._prefix(segment, aspect, spans)
        if self.rescoring != "restate":
            try:
                answer = await continued(self.model, prefix)
                method = RescoringMethod.CONTINUED
                return rescored(answer, spans, method=method, words=prefix.words)
            except PermanentModelError as error:
                if self.rescoring == "continue" or isinstance(error, ModelRefusedError):
                    raise
        answer = await restated(self.model, prefix)
        return rescored(answer, spans, method=RescoringMethod.RESTATED, words=prefix.words)

    @property
    def _has_verdict(self) -> bool:
        return self.prompt > 1

    @property
    def _rivals(self) -> int:
        """Number of tokens whose log-probabilities are requested."""
        if self.alternatives is not None:
            return self.alternatives
        return RIVALS if self._has_verdict or self.expected else 0

    @property
    def _in_json(self) -> bool:
        return self.form in {"auto", "schema"}

    def _read(
        self, reply: Reply, prompt: Prompt, *, scale: Scale, material: Material
    ) -> ParsedReply:
        """Read a JSON object if one may have been requested, and anything else as lines."""
        mark, inputs = prompt.mark, prompt.quotable
        if self._in_json:
            report = read_report(
                reply.text, scale=scale, material=material, mark=mark, inputs=inputs
            )
            if report is not None:
                return report.without_placeholders()
        text, faulty = reply.text, None
        if self._has_verdict:
            faulty, text = read_verdict(text, mark=mark, material=material)
        parsed = parse(
            text,
            scale=scale,
            material=material,
            mark=mark,
            cut=reply.finish is Finish.LENGTH,
            inputs=inputs,
        ).without_placeholders()
        return parsed if faulty is None else replace(parsed, faulty=faulty)

    def _request(self, prompt: Prompt, aspect: Aspect) -> ChatRequest:
        if self.form == "grammar":
            return self._by_grammar(prompt, aspect)
        if self.form == "schema":
            bounded = self._by_schema(prompt, aspect, bounded=True)
            return replace(self._by_schema(prompt, aspect), variants=(bounded,))
        plain = self._asked(prompt.messages, self._decoding)
        if self.form == "text":
            return plain
        constrained = (
            self._by_schema(prompt, aspect, bounded=True),
            self._by_schema(prompt, aspect),
            self._by_grammar(prompt, aspect),
        )
        return replace(plain, variants=constrained)

    def _by_schema(self, prompt: Prompt, aspect: Aspect, *, bounded: bool = False) -> ChatRequest:
        mark, quotable = prompt.mark, prompt.quotable
        held_to = schema(aspect, self._options, mark=mark, quotable=quotable, bounded=bounded)
        return self._asked(prompt.in_json, self._drawn(schema=held_to))

    def _by_grammar(self, prompt: Prompt, aspect: Aspect) -> ChatRequest:
        held_to = grammar(aspect, self._options, mark=prompt.mark, quotable=prompt.quotable)
        return self._asked(prompt.messages, self._drawn(grammar=held_to))

    def _asked(self, messages: tuple[Message, ...], decoding: Decoding) -> ChatRequest:
        near = _NEAR if decoding.logprobs else ()
        return ChatRequest(messages=messages, decoding=decoding, logprobs_near=near)

    def _drawn(self, *, grammar: str = "", schema: ReplySchema | None = None) -> Decoding:
        """Return the decoding of replies with a constrained form."""
        return Decoding(
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens + thought_tokens(self.reasoning),
            grammar=grammar,
            logprobs=self._rivals if self._has_verdict or self.expected else 0,
            schema=schema,
            reasoning=self.reasoning,
        )

    def _prefix(self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]) -> ForcedPrefix:
        prompt = self._prompts.write(segment, aspect)
        by_grammar = self.form == "grammar"
        decoding = self._by_grammar(prompt, aspect).decoding if by_grammar else self._decoding
        return ForcedPrefix(
            aspect=aspect,
            options=self._options,
            mark=prompt.mark,
            conversation=prompt.messages,
            text=self._written(spans, mark=prompt.mark),
            material=Material(prompt.shown),
            decoding=replace(decoding, logprobs=self._rivals),
        )

    def _written(self, spans: Sequence[ErrorSpan], *, mark: str) -> str:
        """Return the reply that lists `spans`, with the verdict that follows from them."""
        listed = render_errors(
            spans,
            words=self.severity == "verbal",
            held_to_grammar=self.form == "grammar",
            mark=mark,
        )
        if not self._has_verdict:
            return listed
        line = verdict_line(faulty=bool(spans), mark=mark)
        if self.verdict == "before":
            return f"{line}\n\n{listed}"
        return f"{listed.removesuffix(cue(mark))}{line}\n{cue(mark)}"


_NEAR = ("faulty", "overall score", "overall_score")
"""Labels of the verdict and the score, in text and in JSON."""
_ASPECTS = IdentityCache[Aspect, bytes](canonical)


def _drawn_again(request: ChatRequest, number: int) -> ChatRequest:
    """Return the request for the further assessment of this `number`, sampled at random."""

    def drawn(decoding: Decoding) -> Decoding:
        return replace(
            decoding,
            temperature=decoding.temperature or 1.0,
            seed=None if decoding.seed is None else decoding.seed + number,
            logprobs=0,
        )

    return redrawn(request, drawn)


def _agreed(
    report: Report, answers: Sequence[Answer[ParsedReply]], *, locate: _Locate, is_expected: bool
) -> Report:
    """Return `report` with the result of all assessments; an expected score stays."""
    scored = [answer.reading for answer in answers if answer.outcome is Outcome.SCORED]
    unusable = len(answers) - len(scored)
    votes = voted([locate(reading.errors) for reading in scored], unusable=unusable)
    scores = [reading.score for reading in scored if reading.score is not None]
    verdicts = [
        bool(reading.errors) if reading.faulty is None else reading.faulty for reading in scored
    ]
    stated = report.error_probability
    agreement = _agreement(verdicts, votes, scores, unusable=unusable)
    return replace(
        report,
        score=report.score if is_expected else float(median(scores)),
        spans=votes.spans,
        error_probability=agreed_probability(verdicts) if stated is None else stated,
        rationale=f"{agreement} {report.rationale}".rstrip(),
        usage=sum((answer.usage for answer in answers), Usage()),
    )


def _agreement(
    verdicts: Sequence[bool], votes: Voted, scores: Sequence[int], *, unusable: int
) -> str:
    """Describe how far assessments agree."""
    count = counted_assessments(sum(verdicts), of=len(verdicts), unusable=unusable)
    notes = [f"{count.format('find an error')}."]
    if votes.left_out:
        errors = "1 error is" if votes.left_out == 1 else f"{votes.left_out} errors are"
        notes.append(f"{errors} left out, reported by half of them at most.")
    if min(scores) < max(scores):
        notes.append(f"Their scores are {min(scores)} to {max(scores)}.")
    return " ".join(notes)


def _expected(report: Report, reply: Reply, *, mark: str, words: Sequence[str]) -> Report:
    """Return `report` with the expected score, or with the reason why there is none."""
    expected = expected_label(reply.logprobs, mark=mark, words=words)
    if expected.value is None:
        note = f"No expected score: {expected.problem}. {report.rationale}"
        return replace(report, rationale=note.rstrip())
    note = f"Expected score, with {expected.share:.0%} of the probability on the scale."
    return replace(report, score=expected.value, rationale=f"{note} {report.rationale}".rstrip())


def _report(answer: Answer[ParsedReply], *, locate: _Locate) -> Report:
    parsed, outcome = answer.reading, answer.outcome
    return Report(
        outcome=outcome,
        score=parsed.score if outcome is Outcome.SCORED else None,
        spans=locate(parsed.errors),
        rationale=parsed.rationale,
        reason=answer.reason,
        reply=answer.reply.text,
        usage=answer.usage,
    )
