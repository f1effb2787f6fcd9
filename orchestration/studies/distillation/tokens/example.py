"""One text of which is known where the source supports it, and the windows that it makes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ROOM, Label, LabelledWindow
from spanjury.judges.reader.windows import SentenceWindow, sentence_windows
from spanjury.orchestration.studies.distillation.splits import Split

_WHOLE = 0.9
"""Share of a sentence's words above which a span says of the sentence, not of its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSpan:
    """A part of a text that the source does not support: half-open offsets in code points."""

    start: int
    end: int
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExample:
    """A text with the parts that its inputs do not support.

    Parameters
    ----------
    spans
        Those parts; empty where the text is supported, or only `label` is known.
    label
        Label of the whole text; an error without spans lies somewhere in it.
    group
        Examples of one group are learnt from together.
    made_of
        Origin of the labels: people, a panel, damage, or a copy of the source.
    damage
        Name of the damage; empty for none.
    licence
        Of the text; empty where unknown.
    copies
        Times that an epoch shows it.
    """

    dataset: str
    row: str
    input_id: str
    inputs: Mapping[str, str]
    output: str
    spans: tuple[LabelledSpan, ...] = ()
    label: Label
    group: str
    split: Split
    made_of: str
    damage: str = ""
    licence: str = ""
    copies: int = 1


def labelled_windows(example: TokenExample, *, room: int = ROOM) -> Iterator[LabelledWindow]:
    """Yield the windows of a text, of at most `room` tokens, with their labels.

    A text of several sentences of which is only known that it has an error yields none.
    """
    windows = list(sentence_windows(example.output, example.inputs, room=room))
    is_bag = example.label > 0 and not example.spans
    if is_bag and len(windows) > 1:
        return
    for window in windows:
        labels = _word_labels(window, example.spans)
        errors = {label for label in labels if label > 0}
        sentence = example.label if is_bag else _joint(errors)
        share = sum(label > 0 for label in labels) / len(labels)
        if is_bag or (share > _WHOLE and example.made_of != "damage"):
            labels = (Label.UNKNOWN,) * len(labels)
        yield LabelledWindow(
            window=window.window, words=labels, sentence=sentence, group=example.group
        )


def _word_labels(window: SentenceWindow, spans: Sequence[LabelledSpan]) -> tuple[Label, ...]:
    return tuple(
        next(
            (span.label for span in spans if span.start < token.end and token.start < span.end),
            Label.SUPPORTED,
        )
        for token in window.tokens
    )


def _joint(errors: set[Label]) -> Label:
    if not errors:
        return Label.SUPPORTED
    return errors.pop() if len(errors) == 1 else Label.ERROR
