"""The judge `claims`: a language model checks a text claim by claim against its inputs.

The text is cut into claims. The model compares each of them with the inputs and quotes the deciding
words. The score is the share of supported claims, as in FActScore (Min et al. 2023, section 3.2),
whose claims are short and self-contained, as are those that a model writes here. A text is as
likely wrong as its most likely wrong claim, as in MiniCheck (Tang et al. 2024, section 2).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import ClassVar, Literal, TypeVar, get_args

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    Decoding,
    ErrorSpan,
    Located,
    Message,
    Reasoning,
    Report,
    Segment,
    Unverified,
    Usage,
    abstention,
    fingerprint,
    gravest,
    not_about,
    signature,
    still_unverified,
    thought_tokens,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.passages import listed
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, RIVALS, field_tokens, shares
from spanjury.judges.llm.asking import asked_together
from spanjury.judges.llm.parsed import ParsedError, ParsedEvidence
from spanjury.judges.llm.prompt import shown_message, shown_texts
from spanjury.judges.llm.quoted_evidence import Inputs
from spanjury.judges.llm.typed_reply import TypedReply, ask_for
from spanjury.judges.llm.wording import fill_template, read_template
from spanjury.judges.tasks import describe
from spanjury.judges.text import Locator, fence
from spanjury.judges.text.sentences import sentences

T = TypeVar("T")

Verdict = Literal["supported", "contradicted", "missing", "unclear"]
"""Verdict on a claim; each begins with a different letter, so that one token identifies it."""

_TEMPLATES = ("claims-system.txt", "claims-split.txt", "claims.txt", "claims-context.txt")
_CATEGORIES = {"contradicted": "contradicted", "missing": "not in the source"}
_WORD, _WORDS = re.compile(r"\w"), re.compile(r"\w+")
_LEAST_WORDS = 3
_LONG = 4  # characters of a word that is more than "the" or "was"
_SEVERITY = 4  # fixed, because the model does not say how much an error matters
_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim, and the sentence of the output that states it.

    Parameters
    ----------
    start, end
        Half-open offsets of the sentence, in code points of the output.
    """

    text: str
    start: int
    end: int


# The docstrings of this class and the next three are part of the JSON schema that the model sees.
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitClaim:
    """A claim as a model states it: one fact of one sentence."""

    sentence: int
    claim: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitClaims:
    """The claims of a text, in its order."""

    claims: list[SplitClaim]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A model's answer on one claim; what decides comes last."""

    claim: int
    evidence: str
    explanation: str
    words: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaims:
    """A model's answers on the claims of one call."""

    claims: list[CheckedClaim]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """A claim, the answer on it, and the probability that it is wrong, if stated."""

    claim: Claim
    answer: CheckedClaim
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimJudge:
    """Have a model check each claim of a text against the inputs.

    It judges aspects of the kind ``"grounding"``. It abstains on others, without an input that the
    aspect may read, on an output without claims, and if no claim can be decided. A claim is
    *supported*, *contradicted*, *missing* (the inputs do not mention it) or *unclear*. Contradicted
    and missing claims are errors, on the words that the model names, or on the whole sentence. A
    sentence is reported as unverified if it has an unclear claim, or a claim that the model calls
    supported by no words, by too few, or by words that no input contains.

    If the server gives log-probabilities, each claim has a probability of being wrong, and the
    probability of an error in the text is the highest of them.

    Parameters
    ----------
    split
        "rules" (the default): each sentence is a claim. "model": the model first writes short,
        self-contained claims and then sees only these, not the text. With `per_call=1`, the cached
        reply on a claim therefore depends only on the claim and its source.
    per_call
        Maximum number of claims in one call.
    max_spans
        Maximum number of errors in a report; the score counts all.
    temperature, seed, max_tokens
        Decoding parameters; `max_tokens` is doubled once for a reply that broke off.
    reasoning
        Effort of reasoning before the reply, as for the annotator.
    """

    blind_spots: ClassVar[str] = (
        "what the inputs imply without saying it, where the model does not see it; how much an "
        "error matters"
    )

    model: ChatModel
    split: Literal["rules", "model"] = "rules"
    per_call: int = 10
    max_spans: int = 8
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 2048
    reasoning: Reasoning | None = None

    def __post_init__(self) -> None:
        if self.split not in {"rules", "model"}:
            raise ValueError(f"split must be rules or model, got {self.split!r}")
        if self.per_call < 1 or self.max_spans < 0:
            raise ValueError(
                "per_call must be positive and max_spans not negative: "
                f"{self.per_call!r}, {self.max_spans!r}"
            )
        self._decoding(logprobs=RIVALS)  # raises for a bad number now

    @property
    def signature(self) -> str:
        """Model, prompts, decoding, and the code that asks and reads."""
        return signature(
            "claims",
            model=self.model.signature,
            prompt=fingerprint(*map(read_template, _TEMPLATES)),
            split=self.split,
            per_call=self.per_call,
            max_spans=self.max_spans,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            code=code_digest(__name__),
            **({} if self.reasoning is None else {"reasoning": self.reasoning}),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the report on all claims; raise `ModelError` if the model gives no reply."""
        if aspect.kind != "grounding":
            return not_about(aspect, "what the inputs support")
        if not any(text.strip() for text in aspect.view(segment.inputs).values()):
            return abstention("there is no input to compare with")
        claims, usage = list(_sentence_claims(segment.output)), Usage()
        if self.split == "model" and claims:
            reply = await self._split(aspect.task.output_header, claims)
            if reply.value is None:
                why = f"the text was not cut into claims: {reply.reason}"
                return replace(reply.unscored, reason=why)
            claims, usage = _split_claims(reply.value, claims), reply.usage
        if not claims:
            return replace(abstention("the output makes no claim"), usage=usage)
        calls = [
            claims[start : start + self.per_call] for start in range(0, len(claims), self.per_call)
        ]
        replies = await asked_together(
            [partial(self._check, segment, aspect, together) for together in calls]
        )
        usage = sum((reply.usage for reply in replies), usage)
        failed = next((reply for reply in replies if reply.value is None), None)
        if failed is not None:
            return replace(failed.unscored, usage=usage)
        findings = [
            finding
            for asked, reply in zip(calls, replies, strict=True)
            for finding in _findings(asked, reply)
        ]
        report = _report(findings, segment=segment, aspect=aspect, max_spans=self.max_spans)
        return replace(report, reply="\n\n".join(reply.text for reply in replies), usage=usage)

    async def _split(self, output: str, claims: Sequence[Claim]) -> TypedReply[SplitClaims]:
        """Ask for the claims in the sentences of a text called `output`."""
        return await self._ask(
            SplitClaims,
            "claims-split.txt",
            {f"Sentences of the {output}": _numbered(claims)},
            about={"output": output},
            decoding=self._decoding(),
        )

    async def _check(
        self, segment: Segment, aspect: Aspect, claims: Sequence[Claim]
    ) -> TypedReply[CheckedClaims]:
        output = aspect.task.output_header
        shown = shown_texts(segment, aspect)
        inputs = [name for name in shown if name != output]
        if self.split == "model":
            del shown[output]
        numbered = chain(("Claims",), (f"Claims {number}" for number in count(2)))
        list_name = next(name for name in numbered if name not in shown)
        context = fill_template("claims-context.txt", {"output": output})
        slots = {
            "description": describe(aspect),
            "inputs": f"the {' and the '.join(listed(inputs))}",
            "claims": list_name,
            "context": context if self.split == "rules" else "",
        }
        return await self._ask(
            CheckedClaims,
            "claims.txt",
            {**shown, list_name: _numbered(claims)},
            about=slots,
            decoding=self._decoding(logprobs=RIVALS),
        )

    async def _ask(
        self,
        reply_type: type[T],
        name: str,
        texts: Mapping[str, str],
        *,
        about: Mapping[str, str],
        decoding: Decoding,
    ) -> TypedReply[T]:
        fenced = fence(texts)
        filled = fill_template(name, {**about, "material": fenced.text, "mark": fenced.mark})
        return await ask_for(
            reply_type,
            model=self.model,
            messages=[
                Message(role="system", content=fill_template("claims-system.txt", {})),
                shown_message(filled, fenced),
            ],
            decoding=decoding,
            logprobs_near=("verdict",),
        )

    def _decoding(self, *, logprobs: int = 0) -> Decoding:
        return Decoding(
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens + thought_tokens(self.reasoning),
            logprobs=logprobs,
            reasoning=self.reasoning,
        )


def _sentence_claims(output: str) -> Iterator[Claim]:
    """Yield each sentence with a word as a claim."""
    for sentence in sentences(output):
        if _WORD.search(sentence.text):
            text = " ".join(sentence.text.split())
            yield Claim(text=text, start=sentence.start, end=sentence.end)


def _split_claims(split: SplitClaims, of_sentences: Sequence[Claim]) -> list[Claim]:
    """Return the claims of a model's reply, in the order of their sentences."""
    first = _first_number([stated.sentence for stated in split.claims], count=len(of_sentences))
    numbered = dict(enumerate(of_sentences, first))
    claims = [
        replace(sentence, text=" ".join(stated.claim.split()))
        for stated in split.claims
        if (sentence := numbered.get(stated.sentence)) and _WORD.search(stated.claim)
    ]
    return sorted(dict.fromkeys(claims), key=lambda claim: claim.start)


def _first_number(numbers: Sequence[int], *, count: int) -> int:
    """Return the number, 0 or 1, that a reply gives to the first of `count` items."""
    return 0 if 0 in numbers and count not in numbers else 1


def _numbered(claims: Sequence[Claim]) -> str:
    return "\n".join(f"{number}. {claim.text}" for number, claim in enumerate(claims, 1))


def _findings(claims: Sequence[Claim], reply: TypedReply[CheckedClaims]) -> Iterator[_Finding]:
    """Yield the reply's answer on each claim; the first counts unless another contradicts it."""
    assert reply.value is not None
    answers = reply.value.claims
    tokens = list(field_tokens(reply.logprobs, "verdict", mark=""))
    # Unless there is one token per answer, tokens and answers cannot be matched.
    probabilities: Sequence[float | None] = [None] * len(answers)
    if len(tokens) == len(answers):
        probabilities = [_wrong_share(shares(token, get_args(Verdict))) for token in tokens]
    by_number: dict[int, tuple[CheckedClaim, float | None]] = {}
    for answer, probability in zip(answers, probabilities, strict=True):
        first, _ = by_number.setdefault(answer.claim, (answer, probability))
        if first.verdict != answer.verdict:
            several = _undecided(answer.claim, "The reply gives several verdicts on it.")
            by_number[answer.claim] = (several, None)
    first_number = _first_number([*by_number], count=len(claims))
    for number, claim in enumerate(claims, first_number):
        none = (_undecided(number, "The reply gives no verdict on it."), None)
        answer, probability = by_number.get(number, none)
        yield _Finding(claim=claim, answer=answer, probability=probability)


def _undecided(number: int, why: str) -> CheckedClaim:
    return CheckedClaim(claim=number, evidence="", explanation=why, words="", verdict="unclear")


def _wrong_share(verdicts: Mapping[str, float]) -> float | None:
    """Return the probability that a claim is wrong; None if the deciding verdicts are unlikely."""
    wrong = verdicts["contradicted"] + verdicts["missing"]
    decided = wrong + verdicts["supported"]
    return min(1.0, wrong / decided) if decided >= LEAST_SHARE else None


def _report(
    findings: Sequence[_Finding], *, segment: Segment, aspect: Aspect, max_spans: int
) -> Report:
    """Combine the findings on all claims into a report."""
    inputs, output = Inputs(aspect.view(segment.inputs)), segment.output
    counts = dict.fromkeys(get_args(Verdict), 0)
    spans: dict[tuple[int | None, int | None, str], ErrorSpan] = {}
    unverified = []
    for finding in findings:
        verdict, doubt = finding.answer.verdict, ""
        if verdict in _CATEGORIES:
            span = _span(finding, output=output, inputs=inputs)
            key = (span.start, span.end, span.category)
            spans[key] = _merged(spans[key], span) if key in spans else span
        elif verdict == "unclear":
            doubt = finding.answer.explanation.strip() or "The model cannot tell."
        elif not (quote := finding.answer.evidence.strip()):
            doubt = "The model calls it supported, and quotes no words of an input."
        elif not inputs.hold(quote):
            doubt = "The model calls it supported by words that no input holds."
        elif not _is_telling(quote, claim=finding.claim.text):
            doubt = "The model calls it supported, and quotes too few words to decide it."
        if doubt:
            verdict = "unclear"
            start, end = finding.claim.start, finding.claim.end
            likely = _UNKNOWN if finding.probability is None else finding.probability
            unverified.append(
                Unverified(
                    start=start, end=end, text=output[start:end], probability=likely, reason=doubt
                )
            )
        counts[verdict] += 1
    decided = len(findings) - counts["unclear"]
    stated = [finding.probability for finding in findings]
    rationale = _rationale(counts)
    if not decided:
        return abstention(f"the model could tell of no claim: {unverified[0].reason}")
    scale = aspect.scale
    return Report(
        score=scale.low + (scale.high - scale.low) * counts["supported"] / decided,
        spans=gravest(tuple(spans.values()), limit=max_spans),
        rationale=rationale,
        unverified=still_unverified([unverified], tuple(spans.values())),
        error_probability=max((p for p in stated if p is not None), default=None),
    )


def _is_telling(quote: str, *, claim: str) -> bool:
    """Return whether a quotation may decide a claim: three words, or a name or word of the claim.

    Without blanks between words, four characters are enough.
    """
    words, own = _WORDS.findall(quote), _WORDS.findall(claim)
    if len(words) >= _LEAST_WORDS or (not quote.isascii() and len("".join(words)) >= _LONG):
        return True
    names = {word for word in own[1:] if word[0].isupper()}
    long = {word.casefold() for word in own if len(word) >= _LONG or not word.isalpha()}
    return any(word in names or word.casefold() in long for word in words)


def _span(finding: _Finding, *, output: str, inputs: Inputs) -> ErrorSpan:
    """Return the error of a wrong claim, on the words named in the answer or on the sentence."""
    claim, answer = finding.claim, finding.answer
    start, end = claim.start, claim.end
    if words := Locator(output[start:end]).find(answer.words):
        start, end = start + words.start, start + words.end
    span = ErrorSpan(
        text=output[start:end],
        start=start,
        end=end,
        explanation=answer.explanation,
        severity=_SEVERITY,
        category=_CATEGORIES[answer.verdict],
        located=words.located if words else Located.EXACT,
        probability=finding.probability,
    )
    quote = answer.evidence.strip()
    evidence = (ParsedEvidence(quote=quote),) if quote else ()
    return inputs.with_evidence(
        span,
        ParsedError(
            quote=answer.words,
            explanation=answer.explanation,
            severity=_SEVERITY,
            evidence=evidence,
        ),
    )


def _merged(span: ErrorSpan, other: ErrorSpan) -> ErrorSpan:
    """Merge two errors on the same words."""
    explanations = dict.fromkeys((span.explanation, other.explanation))
    return replace(
        span,
        explanation=" ".join(filter(None, explanations)),
        evidence=tuple(dict.fromkeys((*span.evidence, *other.evidence))),
        probability=max(
            (p for p in (span.probability, other.probability) if p is not None), default=None
        ),
    )


def _rationale(counts: Mapping[str, int]) -> str:
    words = {"supported": "supported", **_CATEGORIES, "unclear": "not verified"}
    parts = [f"{count} {words[verdict]}" for verdict, count in counts.items() if count]
    total = sum(counts.values())
    return f"{total} {'claim' if total == 1 else 'claims'}: {', '.join(parts)}."
