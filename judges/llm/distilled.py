"""The distilled judge: a small model that was trained to report like a panel.

Source: Kartáč et al. (2025), OpeNLGauge, section 5. It asks with the prompt of its training
and reads the reply as the annotator does. After an unreadable reply it samples again, and finally
reports the reply as unparseable. A reply that broke off gets twice the tokens, and is finally
reported as truncated. It raises `ModelError` if the model gives no reply at all. It works with any
model, but only the prompt tells an untrained model the form of the reply.

In the layout ``verdict-first`` the reply begins with its verdict. If it comes with
log-probabilities, the verdict is decided by a threshold on the probability of ``yes``, which
`Report.error_probability` holds. If the model wrote the other verdict, it is asked to continue
from the decided one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    ErrorSpan,
    Finish,
    Outcome,
    Reply,
    Report,
    Rescoring,
    RescoringMethod,
    Scale,
    Segment,
    Usage,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.llm.asking import Answer
from spanjury.judges.llm.distilled_form import (
    Layout,
    Reading,
    error_probability,
    faulty_prefix,
    from_percent,
    list_prefix,
    messages_for,
    read_number,
    read_verdict,
    short_fingerprint,
)
from spanjury.judges.llm.error_list import CUE, render_errors
from spanjury.judges.llm.expected_score import expected_number
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import PARSER_VERSION, located_errors
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.llm.prompt import shown_texts
from spanjury.judges.text import defused

_FIRST = "verdict-first"
_NUMBER_TOKENS = 32  # a longer continuation is not a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """Ask a model trained for this task for error spans and a number.

    Raises `ValueError` if a number is out of range, or the reading is unknown.

    Parameters
    ----------
    reading
        Meaning of the number on the scale, as in the model's training data.
    tries
        Maximum number of tries. The first reply is greedy; the others are sampled at
        `temperature`.
    temperature, seed, max_tokens
        Decoding parameters; the seed of each try is one more than that of the try before.
    expected
        Use as score the mean over the probabilities of the numbers, if the server returns them.
    alternatives
        Number of most likely tokens whose log-probabilities are requested.
    layout
        Order of the reply in the model's training; recorded in the folder of a local model.
    threshold
        Probability of an error from which the verdict is yes, if the verdict comes first; None
        to keep the verdict as written. Also recorded in the folder of a local model.
    """

    model: ChatModel
    reading: Reading = "stretched"
    tries: int = 3
    temperature: float = 0.1
    seed: int = 1
    max_tokens: int = 512
    expected: bool = False
    alternatives: int = 20
    layout: Layout = "score-last"
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.reading not in {"stretched", "share"}:
            raise ValueError(f"reading must be 'stretched' or 'share', got {self.reading!r}")
        if min(self.tries, self.alternatives) < 1:
            raise ValueError(
                f"tries and alternatives must be positive: {self.tries}, {self.alternatives}"
            )
        if self.layout not in {"score-last", _FIRST}:
            raise ValueError(f"layout must be 'score-last' or '{_FIRST}', got {self.layout!r}")
        if self.threshold is not None and not (self._is_first and 0 <= self.threshold <= 1):
            raise ValueError(
                f"threshold must be 0 to 1, and layout {_FIRST!r}, got {self.threshold!r}"
            )
        # Raises for a bad option now, not at the first segment.
        self._decoding(self.tries, room=self.max_tokens)

    @property
    def _is_first(self) -> bool:
        """True if the verdict comes first."""
        return self.layout == _FIRST

    @property
    def signature(self) -> str:
        """Model, prompt, decoding, and the code that asks and reads."""
        return signature(
            "distilled",
            model=self.model.signature,
            prompt=short_fingerprint(self.layout),
            reading=self.reading,
            tries=self.tries,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            expected=self.alternatives if self.expected else 0,
            **({"layout": self.layout, "threshold": self.threshold} if self._is_first else {}),
            parser=PARSER_VERSION,
            code=code_digest(__name__),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the prompt and of everything used to read its replies."""
        request = canonical(ChatRequest(messages=messages_for(segment, aspect, layout=self.layout)))
        return digest(request, canonical(aspect), segment.output)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's report; raise `ModelError` if it gives no reply."""
        request = ChatRequest(messages=messages_for(segment, aspect, layout=self.layout))
        scale = aspect.scale
        material = Material(shown_texts(segment, aspect).values())
        answer = await self._ask(
            request, lambda reply: self._whole(reply, material, scale=scale), room=self.max_tokens
        )
        likely = error_probability(answer.reply.logprobs) if self._is_first else None
        if self._is_other(answer, likely):
            answer = await self._overruled(answer, request, material, scale=scale)
        report = self._scored(answer, scale=scale)
        return replace(
            report,
            spans=located_errors(answer.reading.errors, output=segment.output),
            error_probability=None if report.score is None else likely,
        )

    def _whole(self, reply: Reply, material: Material, *, scale: Scale) -> ParsedReply:
        read = read_verdict if self._is_first else read_number
        cut = reply.finish is Finish.LENGTH
        whole = read(reply.text, material=material, cut=cut).without_placeholders()
        return self._read(whole, scale=scale)

    def _is_other(self, answer: Answer[ParsedReply], likely: float | None) -> bool:
        """Return whether the threshold decides against the reply's verdict."""
        if self.threshold is None or likely is None or answer.outcome is not Outcome.SCORED:
            return False
        return (likely >= self.threshold) is answer.reading.error_free

    async def _overruled(
        self, answer: Answer[ParsedReply], request: ChatRequest, material: Material, *, scale: Scale
    ) -> Answer[ParsedReply]:
        """Have the model continue from the verdict that `answer` does not have."""
        prefix = faulty_prefix() if answer.reading.error_free else list_prefix(())

        def read(reply: Reply) -> ParsedReply:
            return self._whole(replace(reply, text=prefix + reply.text), material, scale=scale)

        room = self.max_tokens if answer.reading.error_free else _NUMBER_TOKENS
        other = await self._ask(replace(request, prefix=prefix), read, room=room)
        written = replace(other.reply, text=prefix + other.reply.text)
        return replace(other, reply=written, usage=answer.usage + other.usage)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that the model writes after `spans`, as if it had listed them.

        Raises `ModelError` if it gives no reply, or if its server cannot continue a reply.
        """
        prefix = list_prefix(spans) if self._is_first else render_errors(spans)
        messages = messages_for(segment, aspect, layout=self.layout)
        request = ChatRequest(messages=messages, prefix=prefix)
        scale = aspect.scale
        answer = await self._ask(
            request,
            lambda reply: self._read(_read_on(reply), scale=scale),
            room=min(self.max_tokens, _NUMBER_TOKENS),
        )
        report = replace(self._scored(answer, scale=scale), spans=tuple(spans))
        return Rescoring(report=report, method=RescoringMethod.CONTINUED)

    async def _ask(
        self, request: ChatRequest, read: Callable[[Reply], ParsedReply], *, room: int
    ) -> Answer[ParsedReply]:
        """Ask until a reply can be read; after one that broke off, the `room` is doubled once."""
        model, usage, wider, number = defused(self.model), Usage(), room, 1
        while True:
            decoding = self._decoding(number, room=wider)
            reply = await model.complete(replace(request, decoding=decoding))
            usage += reply.usage
            answer = Answer(reply=reply, reading=read(reply), usage=usage)
            if number == self.tries or answer.outcome in {Outcome.SCORED, Outcome.REFUSED}:
                return answer
            number += 1
            wider = 2 * room if answer.outcome is Outcome.TRUNCATED else wider

    def _decoding(self, number: int, *, room: int) -> Decoding:
        """Return the decoding of try `number`, from 1, with at most `room` tokens."""
        return Decoding(
            temperature=0.0 if number == 1 else self.temperature,
            seed=self.seed + number - 1,
            max_tokens=room,
            logprobs=self.alternatives if self.expected or self._is_first else 0,
        )

    def _read(self, parsed: ParsedReply, *, scale: Scale) -> ParsedReply:
        """Return the parsed reply without its score if that is below the worst one of the scale."""
        if parsed.score is None or self._on(scale, parsed.score) is not None:
            return parsed
        return replace(parsed, score=None, problem=f"{parsed.score} is below the worst score")

    def _scored(self, answer: Answer[ParsedReply], *, scale: Scale) -> Report:
        """Return the report without its spans."""
        parsed = answer.reading
        if answer.outcome is not Outcome.SCORED or parsed.score is None:
            return answer.unscored
        score, problem = self._on(scale, parsed.score), ""
        if self.expected:
            expected = expected_number(answer.reply, written=parsed.score)
            problem = f"No expected score: {expected.problem}. " if expected.problem else ""
            mean = None if expected.value is None else self._on(scale, expected.value)
            score = score if mean is None else mean
        return Report(
            score=score,
            rationale=f"{problem}{parsed.rationale}".rstrip(),
            reply=answer.reply.text,
            usage=answer.usage,
        )

    def _on(self, scale: Scale, number: float) -> float | None:
        return from_percent(number, scale=scale, reading=self.reading)


def _read_on(reply: Reply) -> ParsedReply:
    """Read the line after the cue; nothing after that line counts as a score."""
    line, end, _ = reply.text.lstrip().partition("\n")
    return read_number(f"{CUE} {line}", cut=reply.finish is Finish.LENGTH and not end)
