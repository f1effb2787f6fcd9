"""Templates and answers of models trained on one form of prompt, with our wording or their card's.

Such a form has no fences: the model knows its parts from training. If a judged text contains a mark
of the form, such as the label of a part or the tag of an answer, the mark is changed in the text
shown, so that no text can end its part and no copy of it counts as an answer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spanjury.judges.core import Reply
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.llm.wording import template
from spanjury.judges.text import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks of a form.

    Parameters
    ----------
    tags
        Marks that count anywhere; they are changed by a space after the first character.
    labels
        Beginnings of lines that count as labels; they are changed by ``> `` before them.
    """

    tags: re.Pattern[str] = re.compile(r"(?!)")  # matches nothing
    labels: re.Pattern[str]

    def changed_in(self, text: str) -> str:
        """Return `text` with its marks changed."""
        text = self.tags.sub(lambda tag: f"{tag[0][0]} {tag[0][1:]}", text)
        return self.labels.sub(lambda label: f"> {label[0]}", text)


@cache
def words(name: str, file: Path | None, *, slots: frozenset[str]) -> Template:
    """Return our template `name`, or that in `file`, which is read once.

    It is empty without a name and a file. Raises `ValueError` if the file cannot be read, or does
    not contain exactly `slots`.
    """
    if file is None and not name:
        return Template.of("")
    if file is None:
        return template(name)
    try:
        read = Template.of(file.read_text(encoding="utf-8").rstrip("\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read: {error}") from error
    named = frozenset(read.pieces[1::2])
    if named != slots:
        problems = [f"lacks ${name}" for name in sorted(slots - named)]
        problems += [f"has an unknown place ${name}" for name in sorted(named - slots)]
        raise ValueError(f"{file} {' and '.join(problems)}")
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedAnswer:
    """An answer, folded, with the reasons for it; or the problem of a reply."""

    value: str = ""
    reasons: str = ""
    problem: str = ""


def read_answer(
    reply: Reply, pattern: re.Pattern[str], *, unclear: str, reasons: Callable[[str], str]
) -> TrainedAnswer:
    """Return the only ``value`` that `pattern` matches in a reply, ignoring its reasoning.

    `unclear` is the problem of a reply with none or several; `reasons` extracts the reasons from
    its text.
    """
    text = without_reasoning(reply.text)
    if text is None:
        return TrainedAnswer(problem="the reasoning of the reply does not end")
    values = {match["value"].casefold() for match in pattern.finditer(text)}
    if len(values) != 1:
        return TrainedAnswer(problem=unclear)
    return TrainedAnswer(value=values.pop(), reasons=reasons(text))
