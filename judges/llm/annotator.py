"""The annotator: a language model that marks error spans and scores one aspect.

Source: Kartáč et al. (2025), OpeNLGauge, section 4 ("Annotator models") and Appendix F.
It promises a report for every reply that can be read; a reply that cannot is asked for
once more, then reported as unparseable; one that broke off is asked for once more with
twice the room, then reported as truncated. It raises `ModelError` where the model gives
no reply at all. How it scores an error list that is not its own: `spanjury.judges.llm.rescore`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    ErrorSpan,
    Finish,
    ModelRefusedError,
    Outcome,
    PermanentModelError,
    Reply,
    ReplySchema,
    Report,
    Rescoring,
    RescoringMethod,
    Scale,
    Segment,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.llm.asking import Answer, ask
from spanjury.judges.llm.error_list import render_errors
from spanjury.judges.llm.json_form import read_report
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import PARSER_VERSION, SEVERITY_WORDS, located_errors, parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.llm.prompt import (
    Prompt,
    PromptOptions,
    PromptWriter,
    grammar,
    prompt_fingerprint,
    reask,
    reask_in_json,
    schema,
)
from spanjury.judges.llm.quoted_evidence import Inputs
from spanjury.judges.llm.rescore import ForcedPrefix, ScoreForm, continued, rescored, restated


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
        The most errors that the model may list.
    evidence
        Ask for words of an input beside each error, which become its evidence if an input
        holds them.
    temperature, seed, max_tokens
        How replies are drawn; `max_tokens` is doubled once for a reply that broke off.
    form
        Have the server hold the reply to its form by a JSON schema ("schema"), by a GBNF grammar
        ("grammar"), or by nothing but the words of the prompt ("text"). "auto" (the default) takes
        the first of them that the model's server does not refuse.
    rescoring
        How a score is made of an error list that is not the model's own: "continue" has its
        reply written on behind the list, "restate" asks for the score in a new turn, "auto"
        (the default) does the second where the first cannot be done. Models that reason
        before they answer need "restate".
    alternatives
        For how many of the likeliest tokens log-probabilities are asked for when it scores
        such a list, which gives the expected score beside the label; 0 for none.
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
    alternatives: int = 0
    _options: PromptOptions = field(init=False, repr=False, compare=False)
    _prompts: PromptWriter = field(init=False, repr=False, compare=False)
    _decoding: Decoding = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        options = PromptOptions(
            score=self.score,
            severity=self.severity,
            rules=self.rules,
            max_errors=self.max_errors,
            evidence=self.evidence,
        )
        decoding = self._drawn()
        replace(decoding, logprobs=self.alternatives)  # a bad number is refused now
        object.__setattr__(self, "_options", options)  # the dataclass is frozen
        object.__setattr__(self, "_prompts", PromptWriter(options, in_json=self._in_json))
        object.__setattr__(self, "_decoding", decoding)

    @property
    def signature(self) -> str:
        """Model, prompt, decoding, parser and code; of rescoring, what is not as by default."""
        options = {"rescoring": self.rescoring, "alternatives": self.alternatives}
        defaults = {"rescoring": "auto", "alternatives": 0}
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
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the prompt, and of what its replies are read with."""
        said = (message.content for message in self._prompts.write(segment, aspect).messages)
        return digest(*said, _ASPECTS.of(aspect), segment.output)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's report; raise `ModelError` if it gives no reply."""
        prompt = self._prompts.write(segment, aspect)
        material = Material(prompt.texts.values())
        answer = await ask(
            self.model,
            self._request(prompt, aspect),
            read=lambda reply: self._read(reply, prompt, scale=aspect.scale, material=material),
            reask=partial(reask, mark=prompt.mark),
            reask_in_json=reask_in_json,
        )
        shown = aspect.view(segment.inputs) if prompt.quotable else {}
        return _report(answer, output=segment.output, inputs=Inputs(shown))

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that the model gives after `spans`, as if it had listed them.

        Raises `ModelError` if it gives no reply, or cannot write on and may not be asked otherwise.
        """
        prefix = self._prefix(segment, aspect, spans)
        if self.rescoring != "restate":
            try:
                answer = await continued(self.model, prefix)
                return rescored(answer, spans, method=RescoringMethod.CONTINUED, form=prefix.form)
            except PermanentModelError as error:
                if self.rescoring == "continue" or isinstance(error, ModelRefusedError):
                    raise
        answer = await restated(self.model, prefix)
        return rescored(answer, spans, method=RescoringMethod.RESTATED, form=prefix.form)

    @property
    def _in_json(self) -> bool:
        return self.form in {"auto", "schema"}

    def _read(
        self, reply: Reply, prompt: Prompt, *, scale: Scale, material: Material
    ) -> ParsedReply:
        """Read an object where one may have been asked for, and anything else as lines."""
        mark, inputs = prompt.mark, prompt.quotable
        if self._in_json:
            report = read_report(
                reply.text,
                scale=scale,
                severities=_SEVERITIES,
                material=material,
                mark=mark,
                inputs=inputs,
            )
            if report is not None:
                return report
        return parse(
            reply.text,
            scale=scale,
            material=material,
            mark=mark,
            cut=reply.finish is Finish.LENGTH,
            inputs=inputs,
        )

    def _request(self, prompt: Prompt, aspect: Aspect) -> ChatRequest:
        if self.form == "grammar":
            return self._by_grammar(prompt, aspect)
        if self.form == "schema":
            bounded = self._by_schema(prompt, aspect, bounded=True)
            return replace(self._by_schema(prompt, aspect), variants=(bounded,))
        held = self.form == "auto"
        return ChatRequest(
            messages=prompt.messages,
            decoding=self._decoding,
            variants=tuple(self._held(prompt, aspect)) if held else (),
        )

    def _held(self, prompt: Prompt, aspect: Aspect) -> Iterator[ChatRequest]:
        """Yield the requests that are held to their form, best first."""
        yield self._by_schema(prompt, aspect, bounded=True)
        yield self._by_schema(prompt, aspect)
        yield self._by_grammar(prompt, aspect)

    def _by_schema(self, prompt: Prompt, aspect: Aspect, *, bounded: bool = False) -> ChatRequest:
        mark, quotable = prompt.mark, prompt.quotable
        held_to = schema(aspect, self._options, mark=mark, quotable=quotable, bounded=bounded)
        return ChatRequest(messages=prompt.in_json, decoding=self._drawn(schema=held_to))

    def _by_grammar(self, prompt: Prompt, aspect: Aspect) -> ChatRequest:
        held_to = grammar(aspect, self._options, mark=prompt.mark, quotable=prompt.quotable)
        return ChatRequest(messages=prompt.messages, decoding=self._drawn(grammar=held_to))

    def _drawn(self, *, grammar: str = "", schema: ReplySchema | None = None) -> Decoding:
        """Return the decoding of replies that are held to a form."""
        return Decoding(
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            grammar=grammar,
            schema=schema,
        )

    def _prefix(self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]) -> ForcedPrefix:
        prompt = self._prompts.write(segment, aspect)
        by_grammar = self.form == "grammar"
        asked = self._by_grammar(prompt, aspect).decoding if by_grammar else self._decoding
        words = self.severity == "verbal"
        return ForcedPrefix(
            conversation=prompt.messages,
            text=render_errors(spans, words=words, held_to_grammar=by_grammar, mark=prompt.mark),
            form=ScoreForm(aspect=aspect, options=self._options, mark=prompt.mark),
            material=Material(prompt.texts.values()),
            decoding=replace(asked, logprobs=self.alternatives),
        )


_SEVERITIES = Scale(labels=SEVERITY_WORDS)
_ASPECTS = IdentityCache[Aspect, bytes](canonical)


def _report(answer: Answer[ParsedReply], *, output: str, inputs: Inputs) -> Report:
    parsed, outcome = answer.reading, answer.outcome
    return Report(
        outcome=outcome,
        score=parsed.score if outcome is Outcome.SCORED else None,
        spans=located_errors(parsed.errors, output=output, inputs=inputs),
        rationale=parsed.rationale,
        reason=answer.reason,
        reply=answer.reply.text,
        usage=answer.usage,
    )
