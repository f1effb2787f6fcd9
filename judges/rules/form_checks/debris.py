"""Debris: what broken encodings, mark-up and models leave in a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    pattern: re.Pattern[str]
    severity: int
    explanation: str


_KINDS = (
    _Kind(
        pattern=re.compile("[\ufffd\ud800-\udfff]+"),
        severity=4,
        explanation="A character was lost when the text was decoded.",
    ),
    _Kind(
        pattern=re.compile("(?:Ã[\u0080-\u00bf]|â€[\u0080-\u00bfœ˜™¦“”]?|Â[\u00a0£°»«®©§])+"),
        severity=4,
        explanation="The text was decoded with the wrong encoding.",
    ),
    _Kind(
        pattern=re.compile(r"&(?:amp|lt|gt|quot|nbsp|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});"),
        severity=3,
        explanation="A character is written as its HTML entity.",
    ),
    _Kind(
        pattern=re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt](?![a-z]))"),
        severity=3,
        explanation="A character is written as an escape sequence.",
    ),
    _Kind(
        pattern=re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+"),
        severity=3,
        explanation="Control characters stand in the text.",
    ),
    _Kind(
        pattern=re.compile(
            r"<(?:unk|pad|s|/s|bos|eos|mask|sep|cls|endoftext)>|\[(?:UNK|PAD|SEP|CLS|MASK)\]"
            r"|<\|\w{1,30}\|>",
        ),
        severity=4,
        explanation="A token of a model's vocabulary stands in the text.",
    ),
    _Kind(
        pattern=re.compile(
            r"</?(?:p|br|div|span|b|i|u|a|strong|em|h[1-6]|li|ul|ol|table|tr|td)"
            r"(?:\s[^<>]{0,200})?/?>",
        ),
        severity=3,
        explanation="Mark-up is left in the text.",
    ),
    _Kind(
        pattern=re.compile(
            r"\[(?:deleted|removed|citation needed|your name|insert [^\[\]]{1,40})\]",
            re.IGNORECASE,
        ),
        severity=3,
        explanation="A placeholder is left in the text.",
    ),
)


def debris(form: FormText) -> Iterator[ErrorSpan]:
    """Yield every piece of debris."""
    for kind in _KINDS:
        for match in kind.pattern.finditer(form.text):
            yield form.mark(
                *match.span(),
                severity=kind.severity,
                category="debris",
                explanation=kind.explanation,
            )
