"""Examples from rows in which people, or a panel, marked what the source does not support."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan, Label, Result, Segment
from spanjury.orchestration.studies.distillation.rows import Row
from spanjury.orchestration.studies.distillation.tokens.example import LabelledSpan, TokenExample

_LABELS: Mapping[str, Label] = MappingProxyType(
    {
        "contradicted": Label.CONTRADICTED,
        "contradiction": Label.CONTRADICTED,
        "intrinsic": Label.CONTRADICTED,
        "entailment": Label.SUPPORTED,
        "extrinsic": Label.ABSENT,
        "neutral": Label.ABSENT,
        "not in the source": Label.ABSENT,
        "unsupported": Label.ABSENT,
    }
)
"""Words by which data sets and judges say what sort of error it is."""


def group_of(segment: Segment) -> str:
    """Return the key ``group`` of a row, by which twins are known; empty without one."""
    group = segment.meta.get("group")
    return group if isinstance(group, str) else ""


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
        yield TokenExample(
            dataset=row.dataset,
            row=row.segment.segment_id,
            input_id=row.input_id,
            inputs=dict(row.segment.inputs),
            output=row.segment.output,
            spans=spans if label > 0 else (),
            label=label,
            group=f"{row.dataset} {group_of(row.segment) or row.input_id}",
            split=row.split,
            made_of="people",
            licence=row.licence,
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
        yield TokenExample(
            dataset=row.dataset,
            row=row.segment.segment_id,
            input_id=row.input_id,
            inputs=result.aspect.view(row.segment.inputs),
            output=row.segment.output,
            spans=spans,
            label=Label.ERROR if spans else Label.SUPPORTED,
            group=f"{row.dataset} {row.segment.segment_id}",
            split=row.split,
            made_of="panel",
            licence=row.licence,
            copies=copies,
        )


def _spans(gold: Sequence[ErrorSpan], written: object) -> Iterator[LabelledSpan]:
    """Yield the located spans; what a row says beside a span's kind is in `written`."""
    extents = [_extent(span) for span in written] if isinstance(written, list) else []
    for at, span in enumerate(gold):
        if span.interval is not None:
            start, end = span.interval
            words = f"{span.category} {extents[at] if at < len(extents) else ''}"
            yield LabelledSpan(start=start, end=end, label=_span_label(words))


def _extent(span: object) -> str:
    extent = span.get("extent") if isinstance(span, dict) else None
    return extent if isinstance(extent, str) else ""


def _span_label(words: str) -> Label:
    folded = words.casefold()
    labels = (label for word, label in _LABELS.items() if word in folded)
    return next(labels, Label.ERROR)


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
