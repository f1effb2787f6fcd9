"""Evidence that a judge quotes: parsed from its reply, and located in the inputs or left out.

The requested form is ``"words of an input" (name of the input)``. The offsets are those of the
words in the input. Words that occur in no input are not evidence: the explanation then says so,
because a judge that invents what the source says cannot be trusted with the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spanjury.judges.core import ErrorSpan, Evidence
from spanjury.judges.llm.own_fields import quotation
from spanjury.judges.llm.parsed import ParsedError, ParsedEvidence
from spanjury.judges.text import Locator, named_plainly

_SHOWN = 200  # maximum number of characters shown of words that no input contains


def read_evidence(value: str, *, inputs: Sequence[str]) -> ParsedEvidence | None:
    """Return the evidence in the value of the field, or None if it quotes nothing."""
    folded = value.casefold()
    first = max(
        (name for name in inputs if folded.startswith(name.casefold())), key=len, default=""
    )
    quote = quotation(value[len(first) :].lstrip(" :–—-") if first else value)
    if not quote.words.strip() or not quote.marked:
        return None
    before, _, after = value.partition(quote.words)
    around = f"{before} {after}".casefold()
    named = [name for name in inputs if name.casefold() in around]
    return ParsedEvidence(quote=quote.words, input=max(named, key=len, default=""))


class Inputs:
    """The inputs that a judge was shown, to look up its quotations.

    Parameters
    ----------
    inputs
        Header -> text of the inputs, which the judge saw under plain names.
    """

    def __init__(self, inputs: Mapping[str, str]) -> None:
        self._headers = dict(zip(named_plainly(inputs), inputs, strict=True))
        self._inputs = inputs
        self._locators = {header: Locator(text) for header, text in inputs.items()}

    def with_evidence(self, span: ErrorSpan, error: ParsedError) -> ErrorSpan:
        """Return `span` with the evidence of `error` that occurs in the inputs."""
        pairs = [(evidence, self._locate(evidence)) for evidence in error.evidence]
        passages = tuple(dict.fromkeys(passage for _, passage in pairs if passage))
        lacking = [evidence for evidence, passage in pairs if passage is None]
        explanation = " ".join([span.explanation, *map(_remark, lacking)]).strip()
        return replace(span, evidence=passages, explanation=explanation)

    def hold(self, quote: str) -> bool:
        """Return whether an input contains the words of `quote`."""
        return self._locate(ParsedEvidence(quote=quote)) is not None

    def _locate(self, evidence: ParsedEvidence) -> Evidence | None:
        """Locate the words in the input that is named, else verbatim in any."""
        named = self._headers.get(evidence.input)
        interval = self._locators[named].find(evidence.quote) if named else None
        if named and interval:
            return self._evidence(named, interval.start, interval.end)
        for header, text in self._inputs.items():
            start = text.find(evidence.quote)
            if start >= 0:
                return self._evidence(header, start, start + len(evidence.quote))
        if named:
            return None
        for header, locator in self._locators.items():
            if interval := locator.find(evidence.quote):
                return self._evidence(header, interval.start, interval.end)
        return None

    def _evidence(self, header: str, start: int, end: int) -> Evidence:
        return Evidence(input=header, start=start, end=end, text=self._inputs[header][start:end])


NO_INPUTS = Inputs({})
"""For a reply without requested evidence."""


def _remark(evidence: ParsedEvidence) -> str:
    words = " ".join(evidence.quote.split())
    shown = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
    return f'(It quotes "{shown}", which no input holds.)'


def parsed_evidence(values: Iterable[str], *, inputs: Sequence[str]) -> tuple[ParsedEvidence, ...]:
    """Return the distinct quotations in the fields of one error."""
    read = (read_evidence(value, inputs=inputs) for value in values)
    return tuple(dict.fromkeys(evidence for evidence in read if evidence is not None))
