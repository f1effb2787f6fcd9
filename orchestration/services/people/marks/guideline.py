"""The guideline for annotators: marking errors, their severity, and the meaning of each aspect."""

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import groupby

from spanjury.judges.core import Aspect, ConfigError
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Report,
    Section,
    emphasis,
    prose,
    table,
)

_SEVERITIES = files("spanjury.judges") / "llm" / "templates" / "severity-numeric.txt"
"""The severity scale in judges' prompts: people use the same one."""
_SEVERITY = re.compile(r"^(\d) - (.+)$", re.MULTILINE)
_SOURCE = (
    "The council of Marlow approved a new tram line on 3 May. It will cost 40 million euros and"
    " open in 2027."
)
_EXAMPLES = {  # severity -> a wrong statement about the source, why, and a slip of language
    1: (
        "approved the tram line in early May",
        "a little vaguer than 3 May",
        "It wil open in 2027.",
    ),
    2: (
        "approved the tram line unanimously",
        "the source does not say how anyone voted",
        "The tram line it will open in 2027.",
    ),
    3: (
        "will cost 45 million euros",
        "the figure is 40 million",
        "It will open, and the cost is, in 2027 and of 40 million.",
    ),
    4: (
        "approved a new bus line",
        "the news is about a tram line",
        "The council new of line tram has approve.",
    ),
    5: (
        "rejected the tram line",
        "the reader learns the opposite",
        "Tram of and the, council line 3 the it.",
    ),
}


def guideline(aspects: Sequence[Aspect]) -> Report:
    """Return the guideline for marking texts on some aspects.

    The aspects may belong to several tasks; a rubric is replaced by its criteria.

    Raise `ConfigError` if there is no aspect.
    """
    if not aspects:
        raise ConfigError("a guideline needs an aspect that is defined")
    marked = [
        part
        for aspect in aspects
        for part in [criterion.aspect for criterion in aspect.criteria] or [aspect]
    ]
    tasks = [list(group) for _, group in groupby(marked, key=lambda aspect: aspect.task.name)]
    names = ", ".join(group[0].task.name for group in tasks)
    return Report(
        title=f"Annotation guideline: {names}",
        sections=[
            *(Paragraph(" ".join(group[0].task.description.split())) for group in tasks),
            Section("How to mark", [Bullets(_RULES)]),
            Section("Severity of an error", list(_severity())),
            *(
                Section(aspect.spoken[:1].upper() + aspect.spoken[1:], list(_aspect(aspect)))
                for aspect in marked
            ),
        ],
    )


_RULES = (
    "Read the source and the text once before you mark anything.",
    "Judge one aspect at a time. An error that belongs to another aspect is not marked here.",
    "Mark the fewest words that show the error. If an error is repeated, mark every place.",
    prose("If something is left out, press *Something is missing*: an omission has no words."),
    "Say in one sentence what is wrong, if possible in the words of the source.",
    "Rate how severe each error is by itself. Then score the whole text.",
    "Accept an error that a judge marked only if you would have marked it yourself.",
    "If a text has no error, finish it without a mark. That counts as a result, too.",
    "Do not discuss a text with other annotators before all of you have finished it.",
)


def _severity() -> Iterator[Block]:
    yield Paragraph(("The examples are about this source: ", emphasis(_SOURCE)))
    meanings = _SEVERITY.findall(_SEVERITIES.read_text(encoding="utf-8"))
    yield table(
        ["severity", *_texts("meaning", "an error of fact", "why", "an error of language")],
        [[severity, meaning, *_EXAMPLES[int(severity)]] for severity, meaning in meanings],
    )


def _texts(*headings: str) -> list[Column]:
    return [Column(heading, wrap=True) for heading in headings]


def _aspect(aspect: Aspect) -> Iterator[Block]:
    yield Paragraph(" ".join(aspect.definition.split()), tone="strong")
    if aspect.inputs is not None:
        read = ", ".join(aspect.inputs)
        yield Paragraph(f"Read it beside: {read}." if read else "Read the text alone.")
    if aspect.confusable:
        yield Paragraph("These belong to other aspects and are not marked here:")
        yield Bullets(aspect.confusable)
    scale = aspect.scale
    extremes = {scale.low: aspect.worst, scale.high: aspect.best}
    yield table(
        ["score", *_texts("label", "a text with this score")],
        [
            [str(score), label, " ".join(extremes.get(score, "").split())]
            for score, label in enumerate(scale.labels, start=scale.low)
        ],
    )
