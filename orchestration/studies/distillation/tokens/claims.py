"""Pairs of passage and claim to train a checker on, cut as the judge `checker` cuts them."""

from collections.abc import Callable, Iterator, Sequence

from spanjury.judges.checker.cutting import ClaimText, claims_with_passages
from spanjury.judges.core import ClaimPair, ClaimUnit, Label, LabelledPair
from spanjury.orchestration.studies.distillation.tokens.example import (
    TokenExample,
    joint_label,
    says_of_whole,
)


def labelled_pairs(
    example: TokenExample,
    *,
    unit: ClaimUnit,
    room: int,
    count_tokens: Callable[[Sequence[str]], list[int]],
) -> Iterator[LabelledPair]:
    """Yield the claims of a text, each with the passage that shares most words with it.

    A text that is read as several claims yields none if only is known that it has an error.

    Parameters
    ----------
    unit, room, count_tokens
        As a `Checker` has them.
    """
    cut = claims_with_passages(
        example.output,
        example.inputs,
        unit=unit,
        room=room,
        count_tokens=count_tokens,
        limit=1,
    )
    is_bag = example.label > 0 and not example.spans
    if is_bag and len(cut) > 1:
        return
    for text, passages in cut:
        spans = _spans(example, text)
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


def _spans(example: TokenExample, text: ClaimText) -> tuple[tuple[int, int, Label], ...]:
    """Return the wrong parts of the claims of `text`, with offsets in what is read."""
    first, last = text.claims[0][0], text.claims[-1][1]
    return tuple(
        (max(span.start, first) - text.start, min(span.end, last) - text.start, span.label)
        for span in example.spans
        if span.start < last and first < span.end
    )
