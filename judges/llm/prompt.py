"""The annotator's prompt.

The structure is that of OpeNLGauge (Appendix F, as described in section 4): task, aspect,
rules, steps, severity apart from the score, form of the answer. The words are ours. The
material comes first and the aspect last, so that servers that keep the beginning of a
prompt can use it again for the next aspect of the same segment.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import Aspect, Message, Segment, fingerprint
from spanjury.judges.llm.grades import numbers
from spanjury.judges.llm.parse import SEVERITY_WORDS
from spanjury.judges.tasks import describe
from spanjury.judges.text import fence, field_mark, fill_template, named_plainly, read_template

_PACKAGE = "spanjury.judges.llm"
_TEMPLATES = ("system.txt", "annotate.txt", "rules.txt", "reask.txt", "report.gbnf")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """Options of the prompt, as the ablations of OpeNLGauge (section 7.3) vary them."""

    score: Literal["verbal", "numeric"] = "verbal"
    severity: Literal["numeric", "verbal"] = "numeric"
    rules: bool = True
    max_errors: int = 8

    def __post_init__(self) -> None:
        if self.max_errors < 1:
            raise ValueError(f"max_errors must be positive, got {self.max_errors!r}")


def shown_texts(segment: Segment, aspect: Aspect) -> dict[str, str]:
    """Return the texts that a prompt on `aspect` of `segment` shows by their names, output last."""
    inputs = named_plainly(aspect.view(segment.inputs))
    return {**inputs, aspect.task.output_header: segment.output}


def render(segment: Segment, aspect: Aspect, options: PromptOptions) -> tuple[Message, ...]:
    """Return the conversation that asks for a report on `aspect` of `segment`.

    The labels of the report carry the `field_mark` of the texts.
    """
    texts = shown_texts(segment, aspect)
    output = aspect.task.output_header
    fenced = fence(texts)
    about = {
        "task_description": aspect.task.description,
        "material": fenced.text,
        "mark": fenced.mark,
        "code": field_mark(texts.values()),
        "aspect": aspect.name.replace("-", " "),
        "description": describe(aspect),
        "everything": f"the {' and the '.join(texts)}",
        "output": output,
        "severity": _read(f"severity-{options.severity}.txt"),
        "severity_form": _severity_form(options),
        "score": _score(aspect, options),
        "score_form": " | ".join(score_words(aspect, options)),
        "max_errors": str(options.max_errors),
    }
    rules = f"{_fill('rules.txt', about)}\n\n" if options.rules else ""
    return (
        Message(role="system", content=_read("system.txt")),
        Message(role="user", content=_fill("annotate.txt", {**about, "rules": rules})),
    )


def reask(problem: str, *, mark: str) -> Message:
    """Return the message that asks once more after a reply that could not be read."""
    return Message(role="user", content=_fill("reask.txt", {"problem": problem, "code": mark}))


def grammar(aspect: Aspect, options: PromptOptions, *, mark: str) -> str:
    """Return a GBNF grammar of the answers that `render` asks for, with the mark of its texts."""
    words = list(SEVERITY_WORDS) if options.severity == "verbal" else list("12345")
    about = {
        "max_errors": str(options.max_errors),
        "scores": alternatives(score_words(aspect, options)),
        "severities": alternatives(words),
        "code": mark,
    }
    return _fill("report.gbnf", about)


def alternatives(words: Sequence[str]) -> str:
    """Return a GBNF expression that matches one of `words`."""
    return " | ".join(json.dumps(word, ensure_ascii=False) for word in words)


def score_words(aspect: Aspect, options: PromptOptions) -> tuple[str, ...]:
    """Return what the overall score is asked for as, worst first."""
    return aspect.scale.labels if options.score == "verbal" else numbers(aspect.scale)


def prompt_fingerprint(options: PromptOptions) -> str:
    """Return a digest of all the fixed words of the prompt under `options`."""
    named = (*_TEMPLATES, f"severity-{options.severity}.txt", f"score-{options.score}.txt")
    return fingerprint(repr(options), *(_read(name) for name in named))


def _read(name: str) -> str:
    return read_template(_PACKAGE, name)


def _fill(name: str, about: dict[str, str]) -> str:
    return fill_template(_PACKAGE, name, about)


def _score(aspect: Aspect, options: PromptOptions) -> str:
    labels = aspect.scale.labels
    lowest, *_, highest = numbers(aspect.scale)
    about = {
        "ladder": " < ".join(labels),
        "worst_label": labels[0],
        "best_label": labels[-1],
        "low": lowest,
        "high": highest,
    }
    return _fill(f"score-{options.score}.txt", about)


def _severity_form(options: PromptOptions) -> str:
    return " | ".join(SEVERITY_WORDS) if options.severity == "verbal" else "1 | 2 | 3 | 4 | 5"
