"""Read the requested number from a reply that may contain other text.

Asked for a number alone, models also write ``Coherence: 4``, ``**Score:** 4/5`` or a 4 followed by
reasons. No reply makes the reader raise an error, and it never guesses a score: if lines disagree,
or if the number may belong to a list, there is none.
"""

import re

from spanjury.judges.core import Aspect, Scale
from spanjury.judges.llm.grades import Grade, read_grade
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.parse import BREAKS_OFF

SCORE_READER_VERSION = 3
"""Raised whenever a reply may be scored differently than before; part of signatures."""
_COPIED = "its only line with a score may be copied from the material"

_LABELLED = re.compile(r"(?P<label>[^:：=]{1,80})[:：=](?P<value>.*)")
_LIST_ITEM = re.compile(r"\s*+\d++[.)]\s++\S")  # "4. The summary" may be the fourth of a list
_WORD = re.compile(r"[^\W\d_]+")
_SCORE_WORDS = frozenset({"grade", "rating", "score"})
_LABEL_WORDS = frozenset({"evaluation", "final", "for", "is", "my", "of", "overall", "the", "your"})


def read_score(
    reply: str, *, aspect: Aspect, material: Material = NO_MATERIAL, cut: bool = False
) -> Grade:
    """Read the score on `aspect` that `reply` gives.

    A line labelled as the score, or with the name of the aspect, takes precedence over all others;
    without one, every line that consists of a grade counts. All lines that count must agree.

    Parameters
    ----------
    material
        The judged texts: a score that may be copied from them does not count. A score without a
        label counts as copied if a text has it next to the same words as the reply.
    cut
        Whether the reply broke off at its limit: its last word may be half of a score.
    """
    answer = without_reasoning(reply)
    if answer is None:
        return Grade(problem="the reasoning before the answer is never closed")
    written = [line for line in answer.splitlines() if line.strip()]
    lines = [line for line in written if not _copied(line, aspect=aspect, material=material)]
    if not lines and written:
        return Grade(problem=_COPIED)
    if cut and lines:
        value = _labelled(lines[-1], aspect=aspect) or lines[-1]
        if len(value.split()) == 1:
            return Grade(problem=BREAKS_OFF)
    labelled = [value for line in lines if (value := _labelled(line, aspect=aspect))]
    if labelled:
        return _agreed([read_grade(value, scale=aspect.scale) for value in labelled])
    if len(lines) == 1:
        return _plain(lines[0], scale=aspect.scale)
    plain = [
        (grade, material.holds_next_to(line, before=before, after=after))
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
        if (grade := _plain(line, scale=aspect.scale)).value is not None
    ]
    own = [grade for grade, echoed in plain if not echoed]
    return Grade(problem=_COPIED) if plain and not own else _agreed(own)


def _copied(line: str, *, aspect: Aspect, material: Material) -> bool:
    value = _labelled(line, aspect=aspect)
    return bool(value) and (material.holds_line(line) or material.holds_score(value))


def _labelled(line: str, *, aspect: Aspect) -> str:
    """Return the text after a label that announces the score; empty if there is no such label."""
    labelled = _LABELLED.match(line)
    if labelled is None:
        return ""
    announcing = _SCORE_WORDS | _words(aspect.name)
    words = _words(labelled["label"])
    allowed = announcing | _LABEL_WORDS | _words(aspect.task.output_header)
    return labelled["value"].strip(" \t*_") if words & announcing and words <= allowed else ""


def _plain(line: str, *, scale: Scale) -> Grade:
    if _LIST_ITEM.match(line):
        return Grade(problem="its number may be that of an item in a list")
    return read_grade(line, scale=scale)


def _agreed(grades: list[Grade]) -> Grade:
    """Return the grade on which all `grades` agree, or the reason why there is none."""
    if not grades:
        return Grade(problem="there is no line with the score")
    if len({grade.value for grade in grades}) > 1:
        return Grade(problem="it gives more than one score")
    return grades[-1]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
