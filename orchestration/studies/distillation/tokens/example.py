"""Examples of the token form: texts, the windows and pairs that they make, their lines.

Rows in which people, or a panel, marked what the source does not support are examples.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path

from pydantic import TypeAdapter

from spanjury.judges.checker.cutting import ClaimText, claims_with_passages
from spanjury.judges.core import (
    ROOM,
    ClaimPair,
    ClaimUnit,
    DataError,
    ErrorSpan,
    Label,
    LabelledPair,
    LabelledWindow,
    Result,
    Segment,
)
from spanjury.judges.reader.windows import sentence_windows
from spanjury.orchestration.report import Cell, Paragraph, Report, numeric, table
from spanjury.orchestration.studies.distillation.targets import Row
from spanjury.orchestration.studies.distillation.training_set import (
    Split,
    read_lines,
    read_seal,
    split_file,
)

_WHOLE = 0.9
"""Share of a sentence's words above which a span says of the sentence, not of its words."""
_WORD = re.compile(r"\w+")
_RUN = 8
"""Words in a row that two texts hardly share by chance."""

_MOST = 2
"""Runs that a shared set phrase explains."""
FORM = "tokens"
"""Value of ``form`` in the seal of a set of this form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSpan:
    """A part of a text that the source does not support: half-open offsets in code points."""

    start: int
    end: int
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExample:
    """A text with the parts that its inputs do not support."""

    dataset: str
    row: str
    input_id: str
    inputs: Mapping[str, str]
    output: str
    spans: tuple[LabelledSpan, ...] = ()
    """Those parts; empty where the text is supported, or only `label` is known."""
    label: Label
    """Label of the whole text; an error without spans lies somewhere in it."""
    group: str
    """Examples of one group are learnt from together."""
    split: Split
    made_of: str
    """Origin of the labels: people, a panel, damage, or a copy of the source."""
    damage: str = ""
    """Name of the damage; empty for none."""
    licence: str = ""
    """The licence of the text; empty if unknown."""
    copies: int = 1
    """Times that an epoch shows it."""


def labelled_windows(example: TokenExample, *, room: int = ROOM) -> Iterator[LabelledWindow]:
    """Yield the windows of a text, of at most `room` tokens, with their labels.

    A text of several sentences of which is only known that it has an error yields none.
    """
    windows = list(sentence_windows(example.output, example.inputs, room=room))
    is_bag = example.label > 0 and not example.spans
    if is_bag and len(windows) > 1:
        return
    for window in windows:
        labels = tuple(
            next(
                (s.label for s in example.spans if s.start < token.end and token.start < s.end),
                Label.SUPPORTED,
            )
            for token in window.tokens
        )
        errors = {label for label in labels if label > 0}
        sentence = example.label if is_bag else joint_label(errors)
        share = sum(label > 0 for label in labels) / len(labels)
        if is_bag or says_of_whole(example, share=share):
            labels = (Label.UNKNOWN,) * len(labels)
        yield LabelledWindow(
            window=window.window, words=labels, sentence=sentence, group=example.group
        )


def labelled_pairs(
    example: TokenExample,
    *,
    unit: ClaimUnit,
    room: int,
    count_tokens: Callable[[Sequence[str]], list[int]],
) -> Iterator[LabelledPair]:
    """Yield the claims of a text, each with the passage that shares most words with it.

    The text is cut as a `Checker` with these fields cuts it. A text that is read as several claims
    yields none if all that is known is that it has an error.
    """
    cut = claims_with_passages(
        example.output, example.inputs, unit=unit, room=room, count_tokens=count_tokens, limit=1
    )
    is_bag = example.label > 0 and not example.spans
    if is_bag and len(cut) > 1:
        return
    for text, passages in cut:
        spans = _spans_of_claims(example, text)
        length = sum(end - start for start, end, _ in spans)
        is_whole = says_of_whole(
            example, share=length / sum(end - start for start, end in text.claims)
        )
        for passage in passages:
            yield LabelledPair(
                pair=ClaimPair(passage.text, example.output[text.start : text.end]),
                label=example.label if is_bag else joint_label({label for _, _, label in spans}),
                spans=None if is_bag or is_whole else spans,
                group=example.group,
            )


def _spans_of_claims(example: TokenExample, text: ClaimText) -> tuple[tuple[int, int, Label], ...]:
    """Return the wrong parts of the claims of `text`, with offsets in what is read."""
    first, last = text.claims[0][0], text.claims[-1][1]
    return tuple(
        (max(span.start, first) - text.start, min(span.end, last) - text.start, span.label)
        for span in example.spans
        if span.start < last and first < span.end
    )


def says_of_whole(example: TokenExample, *, share: float) -> bool:
    """Say whether spans on a share of a sentence say that it is wrong, not which words are."""
    return share > _WHOLE and example.made_of != "damage"


def joint_label(errors: set[Label]) -> Label:
    """Return the label of a sentence by those of its errors."""
    if not errors:
        return Label.SUPPORTED
    return errors.pop() if len(errors) == 1 else Label.ERROR


_EXAMPLE: TypeAdapter[TokenExample] = TypeAdapter(TokenExample)


def token_line(example: TokenExample) -> bytes:
    """Return `example` as a line of JSON, its end included."""
    return _EXAMPLE.dump_json(example, exclude_defaults=True) + b"\n"


def read_token_split(folder: Path, split: Split) -> Iterator[TokenExample]:
    """Read the examples of one split; raise `DataError` where a line is not one."""
    return read_lines(folder / split_file(split), _EXAMPLE)


def is_token_set(folder: Path) -> bool:
    """Say whether the set in `folder` is of the token form; False if there is none."""
    with suppress(DataError):
        return read_seal(folder).get("form") == FORM
    return False


@dataclass(slots=True)
class TokenInventory:
    """Counts of the examples that were made, and of rows that were left out."""

    made: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(origin of the labels, data set, supported or not) -> examples."""
    overlapping: Counter[str] = field(default_factory=Counter)
    """Data set -> rows that share text with what is measured on."""

    @property
    def examples(self) -> int:
        """Examples in all."""
        return self.made.total()

    def add(self, example: TokenExample) -> None:
        """Count one example in."""
        kind = "with an error" if example.label > 0 else "supported"
        self.made[example.made_of, example.dataset, kind] += 1


def token_set_report(inventory: TokenInventory) -> Report:
    """Return the table of what a set holds, and what was left out of it."""
    overlapping = sorted(inventory.overlapping.items())
    return Report(
        title="Training set",
        sections=[
            table(
                ["labels by", "data set", "text", *numeric("examples")],
                ([*key, Cell(count, ",")] for key, count in sorted(inventory.made.items())),
                title="Training set",
            ),
            *(
                Paragraph(f"left out of {name}: {count} that share text with --evaluation")
                for name, count in overlapping
            ),
        ],
    )


def word_runs(texts: Iterable[str]) -> AbstractSet[int]:
    """Return hashes of every eight words in a row of `texts`."""
    return frozenset(run for text in texts for run in _runs(text))


def overlaps(text: str, runs: AbstractSet[int]) -> bool:
    """Say whether `text` shares more than two runs of eight words with `runs`."""
    return len(_runs(text) & runs) > _MOST


def _runs(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    return {hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1)}


_LABELS: Mapping[str, Label] = {
    "contradicted": Label.CONTRADICTED,
    "contradiction": Label.CONTRADICTED,
    "intrinsic": Label.CONTRADICTED,
    "entailment": Label.SUPPORTED,
    "extrinsic": Label.ABSENT,
    "neutral": Label.ABSENT,
    "not in the source": Label.ABSENT,
    "unsupported": Label.ABSENT,
}
"""Words by which data sets and judges say what sort of error it is."""


def group_of(segment: Segment) -> str:
    """Return the key ``group`` of a row, which the texts of a pair share; empty without one."""
    group = segment.meta.get("group")
    return group if isinstance(group, str) else ""


def of_row(row: Row) -> partial[TokenExample]:
    """Return what makes examples of a row; they lack a label, its origin and a group."""
    return partial(
        TokenExample,
        dataset=row.dataset,
        row=row.segment.segment_id,
        input_id=row.input_id,
        inputs=dict(row.segment.inputs),
        output=row.segment.output,
        split=row.split,
        licence=row.licence,
    )


def examples_of_people(rows: Sequence[Row], *, copies: int) -> Iterator[TokenExample]:
    """Yield an example for each row of which is known whether its source supports it.

    A row says so by its gold spans, or by the keys ``supported`` and ``label`` of natural language
    inference. Rows that say nothing are passed over.
    """
    for row in rows:
        spans = tuple(_spans(row.segment.gold, row.segment.meta.get("spans")))
        label = _label(row.segment.meta, spans)
        if label is None:
            continue
        yield of_row(row)(
            spans=spans if label > 0 else (),
            label=label,
            group=f"{row.dataset} {group_of(row.segment) or row.input_id}",
            made_of="people",
            copies=copies,
        )


def examples_of_panel(
    judged: Iterable[tuple[Row, Result]], *, copies: int
) -> Iterator[TokenExample]:
    """Yield an example for each text that a panel scored on an aspect of the kind ``"grounding"``.

    The spans of the consolidated report are its labels; a text without any is supported.
    """
    for row, result in judged:
        if result.aspect.kind != "grounding" or result.report.score is None:
            continue
        spans = tuple(_spans(result.report.spans, None))
        yield of_row(row)(
            inputs=result.aspect.view(row.segment.inputs),
            spans=spans,
            label=Label.ERROR if spans else Label.SUPPORTED,
            group=f"{row.dataset} {row.segment.segment_id}",
            made_of="panel",
            copies=copies,
        )


def _spans(gold: Sequence[ErrorSpan], written: object) -> Iterator[LabelledSpan]:
    """Yield the located spans; what a row says beside a span's kind is in `written`."""
    rows = written if isinstance(written, list) else []
    for span, row in zip_longest(gold, rows[: len(gold)]):
        if span.interval is not None:
            start, end = span.interval
            extent = row.get("extent") if isinstance(row, dict) else None
            words = f"{span.category} {extent if isinstance(extent, str) else ''}".casefold()
            labels = (label for word, label in _LABELS.items() if label > 0 and word in words)
            yield LabelledSpan(start=start, end=end, label=next(labels, Label.ERROR))


def _label(meta: Mapping[str, object], spans: Sequence[LabelledSpan]) -> Label | None:
    """Return the label of the whole text; None where the row says nothing."""
    named = meta.get("label")
    if isinstance(named, str) and named.casefold() in _LABELS:
        return _LABELS[named.casefold()]
    supported = meta.get("supported")
    if spans:
        return Label.ERROR
    if supported is True:
        return Label.SUPPORTED
    return Label.ERROR if supported is False else None
