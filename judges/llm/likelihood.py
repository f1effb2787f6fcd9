"""The judge `likelihood`: how much the source raises the likelihood of the words of a text.

A language model reads the text twice, with the source and without it, and writes nothing; the
score is the mean log-likelihood given the source, as in Yuan et al. (2021), BARTScore. It is a
second opinion: unlike rules it recognises paraphrase, but it cannot distinguish a contradiction
from the words that it contradicts. It abstains on aspects that are not about what inputs support,
without an input, and if the text is too long. It raises `ModelError` if the model fails, or cannot
compute the likelihood of a text.

On demand it marks spans of words whose likelihood the source does not raise. A token's gain is its
log-probability with the source minus that without it; a word's gain is the sum over its tokens. A
source that is restated makes words more likely, names and numbers most of all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    LikelyToken,
    Located,
    Message,
    ModelRefusedError,
    PermanentModelError,
    Report,
    Segment,
    UnusableModelError,
    Usage,
    abstention,
    forced_logprobs,
    not_about,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.llm.wording import fill_template
from spanjury.judges.text import defused, named_plainly
from spanjury.judges.text.words import Word, words

_WITH, _WITHOUT = "likelihood.txt", "likelihood-without.txt"
_LEAST_SOURCE = 400  # characters; a comparison with less of the source means little
_HALVINGS = 4
_WORST, _BEST = -4.0, -0.5  # mean log-likelihoods of the lowest and of the highest score
_TOP_BAND = 0.875  # share of the scale, 4.5 of 1 to 5, from which a text counts as free of errors
_BELOW = 0.999  # keeps a likely text with a span below the top band
_LINKS = frozenset(
    """a an the and or but nor so as at by for from in into of off on onto out over to up upon
    with is are was were be been being am has have had do does did will would can could may might
    shall should must not no it its he him his she her they them their we us our i me my you your
    this that these those who whom whose which what when where while than then there here if s
    t""".split()  # noqa: SIM905 - a list this long reads best so
)
"""Function words: they connect the words of a span, but are never a span by themselves."""
_LONG = 3  # minimum number of words of a span as grave as a name or a number
_GRAVER, _MILDER = 2, 1
_SURPRISE, _GAIN = 3.0, 0.0  # in nats, chosen by span F1 on 54 training rows of CLIFF, with SmolLM2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """Token likelihoods of a text given the source, of which the share `shown` was read."""

    tokens: tuple[LikelyToken, ...]
    usage: Usage
    shown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """Score by the likelihood given the source; on demand mark words that it makes no more likely.

    Raises `ValueError` if a number is out of range.

    Parameters
    ----------
    model
        Model that can compute the likelihood of a text: ``local/…``, or a server that follows
        grammars.
    spans
        Whether to mark words that the source makes no more likely. Most of them are not errors,
        so the default is not to mark them, and the rationale says so. With this option the score
        is in the top band iff there is no span.
    surprise, gain
        In nats. A word is marked if its log-probability given the source is at most minus
        `surprise`, and the source raises its log-probability by at most `gain`: with 0, not at
        all.
    max_characters
        Maximum length of source and text together. A longer source loses the end of its longest
        part, and the rationale says so; a text longer than half of this is not judged.
    max_spans
        Maximum number of spans of a report, 1 or more; the score counts all words.
    """

    model: ChatModel
    spans: bool = False
    surprise: float = _SURPRISE
    gain: float = _GAIN
    max_characters: int = 12_000
    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.surprise < 0 or self.max_spans < 1 or self.max_characters < 2 * _LEAST_SOURCE:
            raise ValueError(
                "surprise must not be negative, max_spans be positive, max_characters at least"
                f" {2 * _LEAST_SOURCE}: {self.surprise}, {self.max_spans}, {self.max_characters}"
            )

    @property
    def signature(self) -> str:
        """Model, options, and the code and prompts that read it."""
        return signature(
            "likelihood",
            model=self.model.signature,
            spans=self.spans,
            surprise=self.surprise,
            gain=self.gain,
            max_characters=self.max_characters,
            max_spans=self.max_spans,
            rules=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Compare the likelihood of the output with and without the inputs."""
        inputs = named_plainly(aspect.view(segment.inputs))
        if unable := self._obstacle(segment, aspect, inputs):
            return unable
        text = segment.output
        if not text.strip():
            best = float(aspect.scale.high)
            return Report(score=best, rationale="There are no words that a source would support.")
        output = aspect.task.output_header.lower()
        alone, usage = await self._read(_WITHOUT, {"output": output}, text)
        given = await self._beside(inputs, text, output=output)
        if isinstance(given, str):
            return replace(abstention(given), usage=usage)
        mean = _mean_logprob(given.tokens)
        spans = self._spans(text, given.tokens, alone) if self.spans else None
        low, high = aspect.scale.low, aspect.scale.high
        return Report(
            score=low + (high - low) * _share(mean, spans),
            spans=spans or (),
            rationale=_rationale(mean, _mean_logprob(alone), shown=given.shown, looked=self.spans),
            usage=usage + given.usage,
        )

    def _spans(
        self, text: str, given: Sequence[LikelyToken], alone: Sequence[LikelyToken]
    ) -> tuple[ErrorSpan, ...]:
        """Return at most `max_spans` runs of words that the source does not help.

        Function words between two such words are part of a run. The runs whose words gain least
        are kept, sorted by position. Severity is 2 for a name, a number, or three or more words,
        else 1, because most such words are not errors.
        """
        read = _read_words(text, given=given, alone=alone)
        marked = [
            index
            for index, word in enumerate(read)
            if _counts(word) and word.given <= -self.surprise and word.gain <= self.gain
        ]
        runs = [_span(text, run) for run in _runs(read, marked)]
        kept = sorted(runs, key=lambda run: run[0])[: self.max_spans]
        return tuple(sorted((span for _, span in kept), key=lambda span: span.start or 0))

    def _obstacle(
        self, segment: Segment, aspect: Aspect, inputs: Mapping[str, str]
    ) -> Report | None:
        """Return the abstention from an output that cannot be judged; None if it can."""
        if aspect.kind != "grounding":
            return not_about(aspect, "what the inputs support")
        if not any(text.strip() for text in inputs.values()):
            return abstention("there is no input to compare with")
        if len(segment.output) > self.max_characters // 2:
            return abstention(
                f"the output has {len(segment.output)} characters, and at most"
                f" {self.max_characters // 2} fit beside a source (max_characters)"
            )
        return None

    async def _beside(self, inputs: Mapping[str, str], text: str, *, output: str) -> _Given | str:
        """Read `text` with as much of `inputs` as the model accepts; else return why it fails."""
        whole = sum(map(len, inputs.values()))
        room, problem = self.max_characters - len(text), ""
        for _ in range(_HALVINGS):
            kept = _cut(inputs, room)
            texts = (f"{header}:\n{content}" for header, content in kept.items() if content.strip())
            slots = {"output": output, "material": "\n\n".join(texts)}
            try:
                tokens, usage = await self._read(_WITH, slots, text)
            except (UnusableModelError, ModelRefusedError):
                raise
            except PermanentModelError as error:  # most likely too long for the model
                problem = str(error)
            else:
                shown = sum(map(len, kept.values())) / whole
                return _Given(tokens=tokens, usage=usage, shown=shown)
            room = min(room, whole) // 2
            if room < _LEAST_SOURCE:
                break
        return f"the model takes no part of the source that is worth comparing: {problem}"

    async def _read(
        self, template: str, about: Mapping[str, str], text: str
    ) -> tuple[tuple[LikelyToken, ...], Usage]:
        prompt = fill_template(template, about)
        request = ChatRequest(messages=(Message(role="user", content=prompt),), forced=text)
        reply = await defused(self.model).complete(request)
        return forced_logprobs(reply, text), reply.usage


def _cut(inputs: Mapping[str, str], room: int) -> dict[str, str]:
    """Cut `inputs` to `room` characters: the longest loses its end first, at a space."""
    kept = dict(inputs)
    while (excess := sum(map(len, kept.values())) - room) > 0:
        longest, *others = sorted(kept, key=lambda header: -len(kept[header]))
        second = len(kept[others[0]]) if others else 0
        size = max(len(kept[longest]) - excess, min(second, len(kept[longest]) - 1))
        kept[longest] = kept[longest][:size].rpartition(" ")[0] or kept[longest][:size]
    return kept


def _share(mean: float, spans: Sequence[ErrorSpan] | None) -> float:
    """Return the share of the scale, which rises with `mean`; spans keep it below the top band."""
    likely = min(1.0, max(0.0, (mean - _WORST) / (_BEST - _WORST)))
    if spans is None:
        return likely
    return _TOP_BAND * likely * _BELOW if spans else _TOP_BAND + (1 - _TOP_BAND) * likely


def _rationale(mean: float, alone: float, *, shown: float, looked: bool) -> str:
    rationale = (
        f"Beside the source a token has a log-likelihood of {mean:.2f} on average, without it"
        f" {alone:.2f}."
    )
    if shown < 1:
        rationale += f" Only {shown:.0%} of the source was read: the rest did not fit."
    if not looked:
        rationale += " A score alone: no error spans were looked for."
    return f"{rationale} Contradictions in the source's own words are not seen."


@dataclass(frozen=True, slots=True, kw_only=True)
class _LikelyWord:
    """A word with its log-probabilities with the source and without it."""

    word: Word
    given: float
    alone: float

    @property
    def gain(self) -> float:
        """Nats by which the source raises its log-probability."""
        return self.given - self.alone


def _mean_logprob(tokens: Sequence[LikelyToken]) -> float:
    """Return the mean log-probability of one or more tokens."""
    return sum(token.logprob for token in tokens) / len(tokens)


def _read_words(
    text: str, *, given: Sequence[LikelyToken], alone: Sequence[LikelyToken]
) -> list[_LikelyWord]:
    """Return the words of `text`; a token counts for the first word that it overlaps."""
    all_words = words(text)
    return [
        _LikelyWord(word=word, given=with_source, alone=without_source)
        for word, with_source, without_source in zip(
            all_words, _summed(all_words, given), _summed(all_words, alone), strict=True
        )
    ]


def _summed(text_words: Sequence[Word], tokens: Sequence[LikelyToken]) -> list[float]:
    """Return the sum of the log-probabilities of each word's tokens."""
    sums = [0.0] * len(text_words)
    index = 0
    for token in tokens:
        while index < len(text_words) and text_words[index].end <= token.start:
            index += 1
        if index < len(text_words) and text_words[index].start < token.end:
            sums[index] += token.logprob
    return sums


def _runs(read: Sequence[_LikelyWord], marked: Sequence[int]) -> list[list[_LikelyWord]]:
    """Return the runs; each begins and ends with a word `marked` by its index."""
    if not marked:
        return []
    runs = [[marked[0]]]
    for before, index in pairwise(marked):
        if any(_counts(word) for word in read[before + 1 : index]):
            runs.append([])
        runs[-1].append(index)
    return [list(read[run[0] : run[-1] + 1]) for run in runs]


def _counts(word: _LikelyWord) -> bool:
    return word.word.folded not in _LINKS


def _span(text: str, run: Sequence[_LikelyWord]) -> tuple[float, ErrorSpan]:
    """Return the gain of a run and its span."""
    own = [word for word in run if _counts(word)]
    gain = sum(word.gain for word in own)
    start, end = run[0].word.start, run[-1].word.end
    solid = len(own) >= _LONG or any(not word.word.text.islower() for word in own)
    span = ErrorSpan(
        text=text[start:end],
        explanation=_explanation(gain / len(own)),
        severity=_GRAVER if solid else _MILDER,
        start=start,
        end=end,
        category="not from the source",
        located=Located.EXACT,
    )
    return gain, span


def _explanation(gain: float) -> str:
    helped = "hardly likelier" if gain > 0 else "no likelier"
    return f"The source makes these words {helped} ({gain:+.1f} nats a word), and they are rare."
