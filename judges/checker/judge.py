"""The judge `checker`: a model decides for each claim of a text whether a passage supports it.

The support of a claim is that by its best passage, and a text is as likely wrong as its most
likely wrong claim, as in MiniCheck (Tang et al. 2024, sections 2 and 4). ``pool="mean"`` averages
over the claims, as SummaC (Laban et al. 2022) and AlignScore (Zha et al. 2023) do.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from math import fsum
from typing import ClassVar, Literal, get_args

from spanjury.judges.checker.cutting import (
    ClaimText,
    Interval,
    Passage,
    claims_with_passages,
    phrases,
)
from spanjury.judges.checker.evidence import (
    ABSENT,
    CONTRADICTED,
    UNSUPPORTED,
    Run,
    error_span,
    nearest,
    runs,
)
from spanjury.judges.checker.support import ENGLISH, Findings, assessed, obstacle, rescored
from spanjury.judges.core import (
    AskedChecker,
    Aspect,
    CheckedPairs,
    Checker,
    CheckerLimits,
    ClaimPair,
    ClaimSupport,
    ErrorSpan,
    JudgeError,
    Likelihoods,
    MeasuredChecker,
    Report,
    Rescoring,
    Segment,
    Unverified,
    abstention,
    failing_as,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import Token, tokens
from spanjury.judges.text.turns import LONG, in_turn
from spanjury.judges.text.without_claims import without_marks

_BATCH = 16  # pairs checked between two points at which the work can be cancelled
_LEAST_ROOM = 2  # one token of a passage and one of a claim
_UNKNOWN = 0.5  # the probability of an error where none is stated
_SEVERITY = 4  # fixed, because a checker does not say how much an error matters
Pool = Literal["worst", "mean"]
"""Probability of an error in a text: that of its worst claim, or the mean over its claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerJudge:
    """Have a checker decide for each claim of a text whether a passage of the inputs supports it.

    It judges aspects of the kind ``"grounding"`` and abstains on others. It also abstains without
    an input that the aspect may read, on an output without claims and, without `any_language`, on
    texts that are not English. The score depends only on the probability of an error. For another
    error list, that probability is changed by the errors added or removed (`probability_with`).

    Raises `ValueError` if a number is out of range.

    Parameters
    ----------
    checker
        The checker, with a model of its own or a chat model.
    threshold
        Probability of an error, above 0, from which a claim is an error, and from which a word of
        it is marked if the checker has probabilities for words; None for the checker's own, or 0.5.
    vouched
        Probability of an error, above 0, from which a claim below the threshold is reported as
        unverified; None for the checker's own, or 0.3.
    passages
        Maximum number of passages to check a claim with, those that share most words with it.
        0 for all.
    passage_tokens
        Maximum number of tokens of a passage; 0 for as many as the checker has room for.
    passage_sentences
        Maximum number of sentences of a passage; 0 for as many as its tokens allow.
    pool
        ``"worst"``: a text is as likely wrong as its worst claim. ``"mean"``: the mean of its
        claims' probabilities, which is the expected share of wrong claims. It never exceeds the
        probability that any claim is wrong, and one wrong claim in a long text hardly changes it.
    subtract_contradiction
        Whether the probability of an error of a claim is ``(1 - supported + contradicted) / 2``,
        each with the passage for which it is highest, instead of ``1 - supported``. It needs a
        checker that distinguishes contradicted claims from those that the source does not mention.
    phrases
        Whether to repeat the check of each wrong claim with one phrase left out at a time, if the
        checker has no probabilities for words. The shortest phrase without which the claim is no
        error is marked.
    any_language
        Whether the checker reads languages other than English.
    max_spans
        Maximum number of errors in a report; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "what follows only from several passages of the input together; how much an error matters; "
        "whatever its model was not trained to see"
    )

    checker: Checker | AskedChecker
    threshold: float | None = None
    vouched: float | None = None
    passages: int = 8
    passage_tokens: int = 0
    passage_sentences: int = 0
    pool: Pool = "worst"
    subtract_contradiction: bool = False
    phrases: bool = False
    any_language: bool = False
    max_spans: int = 8

    def __post_init__(self) -> None:
        for name in ("threshold", "vouched"):
            if not 0.0 < (probability := getattr(self._limits, name)) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, got {probability!r}")
        for name in ("passages", "passage_tokens", "passage_sentences", "max_spans"):
            if (number := getattr(self, name)) < 0:
                raise ValueError(f"{name} must not be negative, got {number!r}")
        if self.pool not in get_args(Pool):
            raise ValueError(f"pool must be one of {get_args(Pool)}, got {self.pool!r}")

    @property
    def signature(self) -> str:
        """The checker, the options and the rules.

        It begins with the name by which thresholds know the judge: ``checker``, unless it asks a
        `MeasuredChecker`.
        """
        return signature(
            self.checker.judge if isinstance(self.checker, MeasuredChecker) else "checker",
            checker=self.checker.signature,
            threshold=self._limits.threshold,
            vouched=self._limits.vouched,
            passages=self.passages,
            passage_tokens=self.passage_tokens,
            passage_sentences=self.passage_sentences,
            pool=self.pool,
            subtract_contradiction=self.subtract_contradiction,
            phrases=self.phrases,
            any_language=self.any_language,
            max_spans=self.max_spans,
            rules=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Check the output against the inputs that `aspect` may read.

        Raises `JudgeError` if the checker cannot be loaded or run, and `ModelError` if its chat
        model gives no reply.
        """
        return await assessed(self, segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans` instead of the reported errors."""
        return await rescored(self, segment, aspect, spans=spans)

    async def examine(self, segment: Segment, aspect: Aspect) -> Findings | Report:
        """Check each claim of the output."""
        output, inputs = segment.output, self._sources(segment, aspect)
        reads = "" if self.any_language else f"{ENGLISH} unless any_language=true"
        if unable := obstacle(output, inputs, aspect, reads=reads):
            return unable
        checked = await self._checked(inputs, segment=segment, aspect=aspect)
        asked, claims, limits = checked.asked, checked.claims, self._limits
        if asked.unscored is not None:
            return asked.unscored
        wrongs = [claim.probability_in(limits) for claim in claims]
        return Findings(
            error_probability=max(wrongs) if self.pool == "worst" else fsum(wrongs) / len(wrongs),
            is_stated=all(claim.is_stated for claim in claims),
            spans=[
                span
                for claim in claims
                if claim.error_probability >= limits.threshold
                for span in _error_spans(claim, output, inputs, threshold=limits.threshold)
            ],
            unverified=[
                _unverified(claim, output, limits=limits)
                for claim in claims
                if claim.error_probability < limits.threshold
                and claim.probability_in(limits) >= limits.vouched
            ],
            read=len(claims),
            note=asked.note,
            reply=asked.reply,
            usage=asked.usage,
        )

    @property
    def _limits(self) -> CheckerLimits:
        own = getattr(self.checker, "limits", CheckerLimits())
        return own._replace(
            threshold=own.threshold if self.threshold is None else self.threshold,
            vouched=own.vouched if self.vouched is None else self.vouched,
        )

    def _sources(self, segment: Segment, aspect: Aspect) -> Mapping[str, str]:
        """Return the inputs from which passages are made."""
        apart = self.checker.apart if isinstance(self.checker, AskedChecker) else ()
        return {
            header: text
            for header, text in aspect.evidence(segment.inputs).items()
            if aspect.task.canonical_header(header) not in apart
        }

    async def _checked(
        self, inputs: Mapping[str, str], *, segment: Segment, aspect: Aspect
    ) -> "_Checked":
        """Check all claims."""
        output = segment.output
        # Checking even a short text takes long, so every text goes to a thread.
        claimed = without_marks(output, inputs)
        read = await in_turn(partial(self._readings, claimed, inputs), length=LONG + 1, stays=True)
        if not read:
            return _Checked(asked=CheckedPairs(unscored=abstention("the output makes no claim")))
        pairs = [
            ClaimPair(passage.text, output[reading.text.start : reading.text.end])
            for reading in read
            for passage in reading.passages
        ]
        asked = await self._answers(pairs, segment=segment, aspect=aspect)
        if asked.unscored:
            return _Checked(asked=asked)
        left = iter(asked.answers)
        claims = tuple(
            finding
            for reading in read
            for finding in reading.findings(
                list(islice(left, len(reading.passages))), subtracts=self.subtract_contradiction
            )
        )
        checked = _Checked(claims=claims, asked=asked)
        if not self.phrases:
            return checked
        return await self._with_phrases(checked, segment=segment, aspect=aspect)

    async def _answers(
        self, pairs: Sequence[ClaimPair], *, segment: Segment, aspect: Aspect
    ) -> CheckedPairs:
        """Check all pairs; in a thread, in batches, between which the work can be cancelled."""
        if isinstance(self.checker, AskedChecker):
            with self._blaming("ask"):
                asked = await self.checker.ask(pairs, segment=segment, aspect=aspect)
                if not asked.unscored:
                    _require_one_each(asked.answers, pairs)
            return asked
        answers: list[ClaimSupport] = []
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            check = partial(self._check, self.checker, batch)
            answers += await in_turn(check, length=LONG + 1, stays=True)
        return CheckedPairs(answers=tuple(answers))

    async def _with_phrases(
        self, checked: "_Checked", *, segment: Segment, aspect: Aspect
    ) -> "_Checked":
        """Mark the deciding phrase in each wrong claim without words."""
        findings, output = checked.claims, segment.output
        threshold = self._limits.threshold
        candidates = [
            phrases(output, (finding.start, finding.end))
            if finding.error_probability >= threshold and not finding.words
            else []
            for finding in findings
        ]
        pairs = [
            ClaimPair(finding.passage.text, _without(phrase, finding, output))
            for finding, shorter in zip(findings, candidates, strict=True)
            for phrase in shorter
        ]
        asked = await self._answers(pairs, segment=segment, aspect=aspect)
        spent = replace(checked.asked, usage=checked.asked.usage + asked.usage)
        if asked.unscored:  # the verdicts are valid without the phrases
            return replace(checked, asked=spent)
        left = iter(asked.answers)
        marked = []
        for finding, shorter in zip(findings, candidates, strict=True):
            rest = list(islice(left, len(shorter)))
            deciding = [
                _Word(start=start, end=end, wrong=finding.error_probability)
                for (start, end), answer in zip(shorter, rest, strict=True)
                if threshold
                > _error_probability(
                    answer.supported, answer.contradicted, subtracts=self.subtract_contradiction
                )
            ]
            marked.append(replace(finding, words=tuple(deciding[:1])) if deciding else finding)
        return replace(checked, claims=tuple(marked), asked=spent)

    def _readings(self, output: str, inputs: Mapping[str, str]) -> list["_Reading"]:
        """Return the claims to check, each with its passages."""
        with self._blaming("room"):
            room = self.checker.room()
            if room < _LEAST_ROOM:
                raise JudgeError(f"{self.checker.signature} has room for {room!r} tokens only")
        cut = claims_with_passages(
            output,
            inputs,
            unit=self.checker.unit,
            room=room,
            count_tokens=self._count_tokens,
            limit=self.passages,
            passage_tokens=self.passage_tokens,
            passage_sentences=self.passage_sentences,
        )
        by_word = self.checker.unit == "text"
        return [_Reading(text=text, passages=passages, by_word=by_word) for text, passages in cut]

    def _count_tokens(self, texts: Sequence[str]) -> list[int]:
        with self._blaming("count_tokens"):
            counts = [int(count) for count in self.checker.count_tokens(texts)]
            if len(counts) != len(texts):
                raise TypeError(f"it gave {len(counts)} numbers for {len(texts)} texts")
        return counts

    def _check(self, checker: Checker, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        with self._blaming("check"):
            answers = checker.check(pairs)
            _require_one_each(answers, pairs)
        return answers

    def _blaming(self, method: str) -> AbstractContextManager[None]:
        """Raise a `JudgeError` that names the checker for an exception in one of its methods."""
        what = f"{method} of the checker {self.checker.signature}"
        return failing_as(lambda error: JudgeError(f"{what} failed: {error!r}"))


def _require_one_each(answers: object, pairs: Sequence[ClaimPair]) -> None:
    """Raise `TypeError` unless a checker gave one answer for each pair."""
    if not isinstance(answers, list | tuple):
        raise TypeError(f"it returned {answers!r}, not a list of ClaimSupport")
    for answer in answers:
        if not isinstance(answer, ClaimSupport):
            raise TypeError(f"it returned {answer!r} in its list, not a ClaimSupport")
    if len(answers) != len(pairs):
        raise TypeError(f"it gave {len(answers)} answers on {len(pairs)} pairs")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the output; `wrong` is the probability that its passage does not support it."""

    start: int
    end: int
    wrong: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """A claim, and the answer on it with the passage that supports it best.

    The checker read the text from `read_from` on as the claim. `opposed` is the passage that
    contradicts it most, with the probability of contradiction; None if the checker gives none.
    """

    read_from: int
    start: int
    end: int
    supported: float
    words: tuple[_Word, ...]
    passage: Passage
    opposed: tuple[float, Passage] | None
    error_probability: float
    is_stated: bool
    explanation: str

    def is_only_said(self, limits: CheckerLimits) -> bool:
        """Return whether the model calls it supported in words that `limits` do not trust."""
        is_supported = self.error_probability < limits.threshold
        return is_supported and not (self.is_stated or limits.trusts_words)

    def probability_in(self, limits: CheckerLimits) -> float:
        """Return the probability of an error; one half if it is unknown."""
        return _UNKNOWN if self.is_only_said(limits) else self.error_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """The claims of a text, none if it has no score, and what the checker replied."""

    claims: tuple[_Finding, ...] = ()
    asked: CheckedPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A text that is read as one claim, and its passages.

    `by_word` says whether a claim in it is only as well supported as its worst word.
    """

    text: ClaimText
    passages: Sequence[Passage]
    by_word: bool

    def findings(self, answers: Sequence[ClaimSupport], *, subtracts: bool) -> Iterator[_Finding]:
        """Yield one finding for each claim; `answers` has one for each passage."""
        for claim in self.text.claims:
            read = [self._of_claim(claim, answer) for answer in answers]
            best = max(range(len(read)), key=lambda at: (read[at][0], -at))
            against = [
                (answer.contradicted, -at)
                for at, answer in enumerate(answers)
                if answer.contradicted is not None
            ]
            most = max(against, default=None)
            yield _Finding(
                read_from=self.text.start,
                start=claim[0],
                end=claim[1],
                supported=read[best][0],
                words=read[best][1],
                passage=self.passages[best],
                opposed=(most[0], self.passages[-most[1]]) if most else None,
                error_probability=_error_probability(
                    read[best][0], most[0] if most else None, subtracts=subtracts
                ),
                is_stated=answers[best].is_stated,
                explanation=answers[best].explanation,
            )

    def _of_claim(self, claim: Interval, answer: ClaimSupport) -> tuple[float, tuple[_Word, ...]]:
        """Return how well a passage supports a claim within the text, and the claim's words."""
        offset = self.text.start
        words = tuple(
            _Word(start=offset + word.start, end=offset + word.end, wrong=1.0 - word.supported)
            for word in answer.words
            if claim[0] <= offset + word.start and offset + word.end <= claim[1]
        )
        if self.by_word and words:
            return 1.0 - max(word.wrong for word in words), words
        return answer.supported, words


def _error_probability(supported: float, against: float | None, *, subtracts: bool) -> float:
    """Return the probability of an error in a claim; `against` is that of contradiction."""
    if not subtracts:
        return 1.0 - supported
    if against is None:
        raise JudgeError(
            "subtract_contradiction=true needs a checker that tells contradictions from silence, "
            "as models with three named classes do"
        )
    return (1.0 - supported + against) / 2.0


def _without(phrase: Interval, finding: _Finding, output: str) -> str:
    """Return the text of a claim with a phrase left out."""
    rest = output[finding.read_from : phrase[0]] + output[phrase[1] : finding.end]
    return " ".join(rest.split())


def _error_spans(
    finding: _Finding, output: str, inputs: Mapping[str, str], *, threshold: float
) -> Iterator[ErrorSpan]:
    """Yield the errors of a wrong claim: its runs of wrong words, or else the whole claim.

    The evidence is the nearest clause of the deciding passage.
    """
    category, passage = UNSUPPORTED, finding.passage
    if finding.opposed is not None:
        against, opposing = finding.opposed
        # The rest up to 1 is the probability that the passage does not mention the claim.
        is_contradicted = against >= max(0.0, 1.0 - finding.supported - against)
        category = CONTRADICTED if is_contradicted else ABSENT
        passage = opposing if is_contradicted else passage
    claim = output[finding.start : finding.end]
    sentences = [
        tokens(claim[start:end], offset=finding.start + start)
        for start, end in sentence_intervals(claim)
    ]
    marked = [
        (run, sentence)
        for sentence in sentences
        for run in runs(
            sentence,
            [_likelihoods(token, finding.words) for token in sentence],
            threshold=threshold,
        )
    ]
    size, probability = sum(map(len, sentences)), finding.error_probability
    whole = Run(first=0, stop=size, category=category, probability=probability)
    for run, read in marked or [(whole, list(chain(*sentences)))]:
        near = nearest(run, read, passage.sentences)
        span = error_span(
            replace(run, category=category),
            near,
            tokens=read,
            output=output,
            inputs=inputs,
            severity=_SEVERITY,
        )
        yield replace(
            span,
            explanation=finding.explanation or span.explanation,
            probability=span.probability if finding.is_stated else None,
        )


def _likelihoods(token: Token, words: Sequence[_Word]) -> Likelihoods:
    """Return the likelihoods of a token: as wrong as the worst of the `words` that it overlaps.

    Wrong words count as contradicted, since a checker does not distinguish this for words.
    """
    own = (word.wrong for word in words if word.start < token.end and token.start < word.end)
    wrong = max(own, default=0.0)
    return Likelihoods(supported=1.0 - wrong, contradicted=wrong, absent=0.0)


def _unverified(finding: _Finding, output: str, *, limits: CheckerLimits) -> Unverified:
    reason = f"The best passage supports it with probability {finding.supported:.2f} only."
    if finding.is_only_said(limits):
        reason = "The model calls it supported, and its server states no probability."
    return Unverified(
        start=finding.start,
        end=finding.end,
        text=output[finding.start : finding.end],
        probability=finding.probability_in(limits),
        reason=reason,
    )
