"""Clean texts and their damaged twins, which stand in one batch: the words that differ teach."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from numpy.random import Generator, default_rng

from spanjury.judges.core import Label, Segment
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words
from spanjury.orchestration.studies.distillation.damaged_text import Harm
from spanjury.orchestration.studies.distillation.rows import Row
from spanjury.orchestration.studies.distillation.splits import Split
from spanjury.orchestration.studies.distillation.tokens.example import LabelledSpan, TokenExample
from spanjury.perturbations import Case, Damage, NothingToDamageError

_ABSENT = frozenset(("fictional-entity", "fabricate-detail", "invent-term"))
"""Rules that add what no source says; what the others do contradicts it."""

_COPIED = 0.5
"""Share of clean texts that are copied from a source; the rest are outputs."""

_CHANGED = 0.4
"""Share of clean texts that are changed without harm before they are damaged."""

_TRIES = 4
"""Harms that are tried on a text before another text is drawn."""

_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPlan:
    """The twins to make.

    `harms`, `harmless`: the damage, and changes that harm nothing.
    """

    harms: Sequence[Harm]
    harmless: Sequence[Harm]
    pairs: int
    """Number of twins to make, of rows of the `split`."""
    split: Split = "train"
    seed: int


def twins(
    rows: Sequence[Row], plan: TwinPlan, *, clean: Container[str] = ()
) -> Iterator[TokenExample]:
    """Yield clean texts, each followed by its damaged twin, drawn from the rows of a split.

    Rows that are not known to be supported, and whose file is not `clean`, give their source only.
    There are fewer twins than asked for where little can be damaged.
    """
    material = _by_dataset(row for row in rows if row.split == plan.split and row.segment.inputs)
    if not material:
        return
    rng = default_rng(plan.seed)
    made = 0
    for draw in count():
        if made == plan.pairs or draw > plan.pairs * _TRIES * 2:
            return
        rows_of_one = material[int(rng.integers(len(material)))]
        row = rows_of_one[int(rng.integers(len(rows_of_one)))]
        text = _clean_text(row.segment, rng, is_good=row.source in clean)
        if len(text.split()) < _FEWEST_WORDS:
            continue
        text = _changed(text, plan.harmless, rng)
        damaged = _damaged(Case(text=text, inputs=row.segment.inputs), plan.harms, rng)
        if damaged is None:
            continue
        made += 1
        yield from _pair(row, text, damaged, number=made)


def _by_dataset(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows of each data set: all sets are drawn from alike, however large."""
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(row.dataset, []).append(row)
    return list(sets.values())


def _clean_text(segment: Segment, rng: Generator, *, is_good: bool) -> str:
    """Draw the output, if it is known to be supported, or a copy from the source."""
    is_supported = segment.meta.get("supported") is True and not segment.gold
    if not (is_good or is_supported) or rng.random() < _COPIED:
        sources = list(segment.inputs.values())
        return copied_sentence(sources[int(rng.integers(len(sources)))], rng)
    return segment.output


def _changed(text: str, harmless: Sequence[Harm], rng: Generator) -> str:
    if not harmless or rng.random() >= _CHANGED:
        return text
    change = harmless[int(rng.integers(len(harmless)))]
    damage = _applied(change, Case(text=text), rng)
    return damage.text if damage else text


def _damaged(case: Case, harms: Sequence[Harm], rng: Generator) -> tuple[Harm, Damage] | None:
    for at in rng.permutation(len(harms))[:_TRIES].tolist():
        damage = _applied(harms[at], case, rng)
        if damage:
            return harms[at], damage
    return None


def _applied(harm: Harm, case: Case, rng: Generator) -> Damage | None:
    try:
        return harm.perturbation.damage(case, rng, **harm.options)
    except NothingToDamageError:
        return None


def _pair(
    row: Row, clean: str, damaged: tuple[Harm, Damage], *, number: int
) -> Iterator[TokenExample]:
    harm, damage = damaged
    label = Label.ABSENT if harm.rule in _ABSENT else Label.CONTRADICTED
    shared = partial(
        TokenExample,
        dataset=row.dataset,
        row=row.segment.segment_id,
        input_id=row.input_id,
        inputs=dict(row.segment.inputs),
        group=f"twins {number}",
        split=row.split,
        licence=row.licence,
    )
    yield shared(output=clean, label=Label.SUPPORTED, made_of="copy or clean text")
    yield shared(
        output=damage.text,
        spans=tuple(_widened(interval, damage.text, label) for interval in damage.places),
        label=label,
        made_of="damage",
        damage=harm.name,
    )


def _widened(interval: tuple[int, int], text: str, label: Label) -> LabelledSpan:
    """Mark, where something was taken out, what now stands side by side."""
    start, end = interval
    if start == end:
        start, end = max(0, start - 1), min(len(text), end + 1)
    return LabelledSpan(start=start, end=end, label=label)


_FEWEST, _MOST = 6, 40  # words of a sentence that is copied
_LEADING = re.compile(
    r"^(?:however|but|and|so|meanwhile|also|in addition|moreover|still|then)\s*,?\s+(?=\w)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)|, (?:which|who) [^,.]*,")
_SPEAKER = re.compile(r"^[\w \-]{1,25}:\s+")
_MARK = re.compile(r'([.,;:!?()"])')
_CLITIC = re.compile(r"(\w)'(s|re|ve|ll|d)\b")
_SHORTENED = 0.5
_LOWER = 0.12
_TOKENISED = 0.12


def copied_sentence(source: str, rng: Generator) -> str:
    """Return a sentence of `source`, perhaps shortened, lower-cased or tokenised; "" if none fits.

    Left out are a first connective, asides in brackets or relative clauses, and who speaks.
    """
    fitting = [
        (start, end)
        for start, end in sentence_intervals(source)
        if _FEWEST <= len(folded_words(source[start:end])) <= _MOST
    ]
    if not fitting:
        return ""
    start, end = fitting[int(rng.integers(len(fitting)))]
    text = " ".join(source[start:end].split())
    if rng.random() < _SHORTENED:
        text = _shortened(text)
    if rng.random() < _LOWER:
        text = text.lower()
    return tokenised(text) if rng.random() < _TOKENISED else text


def tokenised(text: str) -> str:
    """Put blanks around marks, as old data sets do.

    Examples
    --------
    >>> tokenised("Ann's dog barked, twice.")
    "Ann 's dog barked , twice ."
    """
    return " ".join(_CLITIC.sub(r"\1 '\2", _MARK.sub(r" \1 ", text)).split())


def _shortened(text: str) -> str:
    text = _ASIDE.sub("", _LEADING.sub("", _SPEAKER.sub("", text)))
    return text[:1].upper() + text[1:]
