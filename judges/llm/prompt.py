"""The annotator's prompt.

The structure is that of OpeNLGauge (Appendix F, as described in section 4): task, aspect,
rules, steps, severity apart from the score, form of the answer. The wording is ours. The
material comes first and the aspect last, so that servers that cache the beginning of a
prompt can reuse it for the next aspect of the same segment.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from spanjury.judges.core import Aspect, Message, ReplySchema, Segment, Task, fingerprint
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.passages import listed
from spanjury.judges.llm.grades import SEVERITY_WORDS, numbers
from spanjury.judges.llm.json_form import report_schema, with_mark
from spanjury.judges.llm.verdict import VerdictPlace
from spanjury.judges.llm.wording import fill_template, read_template, template
from spanjury.judges.tasks import describe
from spanjury.judges.text import Fenced, Template, fence, fence_apart, field_mark, named_plainly

_MOST_FRAMES = 100
_TEMPLATES = (
    *("system.txt", "annotate.txt", "form-text.txt", "form-json.txt", "rules.txt", "copying.txt"),
    *("reask.txt", "reask-json.txt", "report.gbnf"),
)
_EVIDENCE_TEMPLATES = (
    *("copying-evidence.txt", "evidence-form-text.txt", "evidence-note-text.txt", "evidence.gbnf"),
    *("evidence-form-json.txt", "evidence-note-json.txt"),
)
_VERDICT_TEMPLATES = (
    *("verdict-text.txt", "verdict-json.txt", "verdict-note-text.txt", "verdict-note-json.txt"),
    *("verdict-before.gbnf", "verdict-after.gbnf", "verdict.gbnf", "reask-verdict.txt"),
)
_VERDICT_PLACE = re.compile(r"\$verdict_[a-z]+")
_REWORDED = frozenset(
    {"annotate", "form-text", "form-json", "rules", "severity-numeric", "severity-verbal"}
)
_NOTHING = Template(("",))
ExamplesNear = Callable[[Segment, Aspect], Mapping[str, str]]
"""Function that returns the texts of the examples, under names that the prompt does not use."""
Layout = Literal["text", "json"]
"""Layout of a report: lines with labels, or a JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """Options of the prompt, which the ablations of OpeNLGauge (section 7.3) vary.

    With `evidence`, it asks for words of an input with each problem. `verdict` was added later:
    without a verdict, everything is as in the first prompt, including the fingerprint.
    """

    score: Literal["verbal", "numeric"] = "verbal"
    severity: Literal["numeric", "verbal"] = "numeric"
    rules: bool = True
    max_errors: int = 8
    evidence: bool = False
    verdict: VerdictPlace = field(default="after", repr=False)

    def __post_init__(self) -> None:
        if self.max_errors < 1:
            raise ValueError(f"max_errors must be positive, got {self.max_errors!r}")


def shown_texts(segment: Segment, aspect: Aspect) -> dict[str, str]:
    """Return the texts that a prompt on `aspect` of `segment` shows, by name, output last."""
    inputs = named_plainly(aspect.view(segment.inputs))
    return {**inputs, aspect.task.output_header: segment.output}


def texts_in_context(segment: Segment, aspect: Aspect) -> dict[str, str]:
    """Return `shown_texts` with the text before the output (`Segment.before`) ahead of it."""
    shown = shown_texts(segment, aspect)
    if not segment.before:
        return shown
    output = shown.pop(aspect.task.output_header)
    return {**shown, _context(aspect.task): segment.before, aspect.task.output_header: output}


def described_task(task: Task, names: Collection[str]) -> str:
    """Return the description of a task, with a note on the text before the output.

    `names` are the names of the texts in the prompt.
    """
    slots = {"output": task.output_header, "context": _context(task)}
    note = fill_template("in-context.txt", slots) if slots["context"] in names else ""
    return task.description + note


def _context(task: Task) -> str:
    return f"{task.output_header} up to this sentence"  # too many words for an input's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request for a report.

    Parameters
    ----------
    texts
        The texts shown, by name, output last.
    mark
        The `field_mark` of the texts, which the labels of the report carry.
    messages
        The conversation that shows them and asks for lines with labels.
    in_json
        The conversation that asks for a JSON object; empty if that is not wanted.
    examples
        The texts of the examples shown, by name; empty if there are none.
    quotable
        Names of the inputs that evidence may quote, in the order of the texts.
    """

    texts: Mapping[str, str]
    mark: str
    messages: tuple[Message, ...]
    in_json: tuple[Message, ...] = ()
    quotable: tuple[str, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """All texts that a reply may copy: those of the examples and the judged ones."""
        return (*self.examples.values(), *self.texts.values())


class PromptWriter:
    """Writes prompts that ask for reports, with `in_json` also in JSON.

    The parts common to all segments of an aspect are written once. If there are `examples`, the
    nearest ones precede the prompt.
    """

    def __init__(
        self, options: PromptOptions, *, in_json: bool = False, examples: ExamplesNear | None = None
    ) -> None:
        self._options = options
        self._examples = examples
        self._in_json = in_json
        self._frames = IdentityCache[Aspect, dict[tuple[str, ...], Template]](lambda _: {})
        self._latest: tuple[Segment, Aspect, Prompt] | None = None  # `report_key` comes first

    def write(self, segment: Segment, aspect: Aspect) -> Prompt:
        """Return the prompt that asks for a report on `aspect` of `segment`."""
        if self._latest is not None:
            segment_before, of, prompt = self._latest
            if segment_before is segment and of is aspect:
                return prompt
        prompt = self._written(segment, aspect)
        self._latest = segment, aspect, prompt
        return prompt

    def _written(self, segment: Segment, aspect: Aspect) -> Prompt:
        texts = texts_in_context(segment, aspect)
        examples = self._examples(segment, aspect) if self._examples else {}
        fenced, head = _fenced(texts, examples, aspect)
        mark = field_mark([*examples.values(), *texts.values()])
        slots = {"material": fenced.text, "mark": fenced.mark, "code": mark}
        system, names = Message(role="system", content=read_template("system.txt")), tuple(texts)
        in_lines, in_json = (
            (system, shown_message(head + self._frame(aspect, layout, names).fill(slots), fenced))
            if layout == "text" or self._in_json
            else ()
            for layout in get_args(Layout)
        )
        return Prompt(
            texts=texts,
            mark=mark,
            messages=in_lines,
            in_json=in_json,
            quotable=_inputs(texts, aspect) if self._options.evidence else (),
            examples=examples,
        )

    def _frame(self, aspect: Aspect, layout: Layout, names: tuple[str, ...]) -> Template:
        frames, key = self._frames.of(aspect), (layout, *names)
        frame = frames.get(key)
        if frame is None:
            if len(frames) >= _MOST_FRAMES:  # names come from the data
                frames.clear()
            frame = frames[key] = _asking(aspect, self._options, names, layout=layout)
        return frame


def shown_message(prompt: str, fenced: Fenced) -> Message:
    """Return the message that shows fenced texts, sources first."""
    return Message(role="user", content=prompt, shared=fenced.shared_in(prompt))


def _fenced(
    texts: Mapping[str, str], examples: Mapping[str, str], aspect: Aspect
) -> tuple[Fenced, str]:
    """Return the fenced texts, and the section that shows the examples before them, if any."""
    if not examples:
        return fence(texts), ""
    shown, fenced = fence_apart(examples, texts)
    slots = {"aspect": aspect.spoken, "examples": shown.text, "mark": shown.mark}
    return fenced, f"{fill_template('examples.txt', slots)}\n\n"


def _asking(
    aspect: Aspect, options: PromptOptions, names: tuple[str, ...], *, layout: Layout
) -> Template:
    slots = {
        "task_description": described_task(aspect.task, names),
        "aspect": aspect.spoken,
        "description": describe(aspect),
        "everything": everything(names),
        "output": aspect.task.output_header,
        "severity": read_template(_worded(f"severity-{options.severity}", options)),
        "severity_form": " | ".join(_severities(options)),
        "score": _score(aspect, options),
        "score_form": " | ".join(score_words(aspect, options)),
        "max_errors": str(options.max_errors),
    }
    inputs = _inputs(names, aspect) if options.evidence else ()
    copying = fill_template("copying-evidence.txt" if inputs else "copying.txt", slots)
    rules = ""
    if options.rules:
        rules = f"{fill_template(_worded('rules', options), {**slots, 'copying': copying})}\n\n"
    slots |= {"rules": rules, "evidence_note": "", "inputs": ", ".join(listed(inputs))}
    asking = template(_worded("annotate", options))
    asking = asking.with_part("form", _form(options, layout=layout))
    if not inputs:
        return asking.filled_in_part({**slots, "evidence_form": ""})
    slots["evidence_note"] = f"\n{fill_template(f'evidence-note-{layout}.txt', slots)}"
    form = template(f"evidence-form-{layout}.txt")
    return asking.with_part("evidence_form", form).filled_in_part(slots)


def _form(options: PromptOptions, *, layout: Layout) -> Template:
    """Return the form of the answer, with the verdict in its position."""
    form = template(_worded(f"form-{layout}", options))
    verdict, end = template(f"verdict-{layout}.txt"), "\n" if layout == "text" else ""
    note = template(f"verdict-note-{layout}.txt")
    return _with_verdict(
        form,
        options.verdict,
        before=_between("", verdict, 2 * end),
        after=_between("", verdict, end),
    ).with_part("verdict_note", _NOTHING if options.verdict == "none" else _between("\n", note))


def _with_verdict(
    form: Template, verdict: VerdictPlace, *, before: Template, after: Template
) -> Template:
    """Return `form` with the request for the verdict at its position, and nothing at the other."""
    form = form.with_part("verdict_before", before if verdict == "before" else _NOTHING)
    return form.with_part("verdict_after", after if verdict == "after" else _NOTHING)


def _between(before: str, part: Template, behind: str = "") -> Template:
    pieces = list(part.pieces)
    pieces[0] = before + pieces[0]
    pieces[-1] += behind
    return Template(tuple(pieces))


def _inputs(names: Iterable[str], aspect: Aspect) -> tuple[str, ...]:
    others = {aspect.task.output_header, _context(aspect.task)}
    return tuple(name for name in names if name not in others)


def everything(names: Sequence[str]) -> str:
    """Return the names of a prompt's texts as a sentence lists them."""
    return f"the {' and the '.join(listed(names))}"


def reask(problem: str, *, mark: str, verdict: VerdictPlace = "none") -> Message:
    """Return the second request, after an unreadable reply."""
    name = "reask.txt" if verdict == "none" else "reask-verdict.txt"
    return Message(role="user", content=fill_template(name, {"problem": problem, "code": mark}))


def reask_in_json(problem: str) -> Message:
    """Return the second request for a JSON object."""
    return Message(role="user", content=fill_template("reask-json.txt", {"problem": problem}))


def grammar(
    aspect: Aspect, options: PromptOptions, *, mark: str, quotable: Sequence[str] = ()
) -> str:
    """Return a GBNF grammar of the requested answers, with the mark of the texts.

    `quotable` are the inputs that evidence may quote.
    """
    frame = _grammar_frame(
        scores=tuple(score_words(aspect, options)),
        severities=_severities(options),
        max_errors=options.max_errors,
        inputs=tuple(quotable),
        verdict=options.verdict,
    )
    return frame.fill({"code": mark})


@lru_cache(maxsize=256)
def _grammar_frame(
    *,
    scores: tuple[str, ...],
    severities: tuple[str, ...],
    max_errors: int,
    inputs: tuple[str, ...],
    verdict: VerdictPlace,
) -> Template:
    """Return a grammar in which only the mark is a variable."""
    frame = _with_verdict(
        template("report.gbnf"),
        verdict,
        before=template("verdict-before.gbnf"),
        after=template("verdict-after.gbnf"),
    )
    parts = {"evidence_rules": bool(inputs), "verdict_rule": verdict != "none"}
    for word, is_asked in parts.items():
        rule = template(f"{word.partition('_')[0]}.gbnf")
        frame = frame.with_part(word, _between("\n", rule) if is_asked else _NOTHING)
    return frame.filled_in_part(
        {
            "max_errors": str(max_errors),
            "scores": alternatives(scores),
            "severities": alternatives(severities),
            "inputs": alternatives(inputs),
            "evidence_place": '" evidence? "' if inputs else "",
        }
    )


def schema(
    aspect: Aspect,
    options: PromptOptions,
    *,
    mark: str,
    quotable: Sequence[str] = (),
    bounded: bool = False,
) -> ReplySchema:
    """Return the schema of the requested objects, the JSON counterpart of `grammar`."""
    unmarked = report_schema(
        scores=score_words(aspect, options),
        severities=_severities(options),
        max_errors=options.max_errors,
        inputs=tuple(quotable),
        bounded=bounded,
        verdict=options.verdict,
    )
    return with_mark(unmarked, mark)


def alternatives(words: Sequence[str]) -> str:
    """Return a GBNF expression that matches one of `words`."""
    return " | ".join(json.dumps(word, ensure_ascii=False) for word in words)


def score_words(aspect: Aspect, options: PromptOptions) -> tuple[str, ...]:
    """Return the spellings of the overall score, worst first."""
    return aspect.scale.labels if options.score == "verbal" else numbers(aspect.scale)


def prompt_fingerprint(options: PromptOptions) -> str:
    """Return a digest of all templates of the prompt under `options`."""
    evidence = _EVIDENCE_TEMPLATES if options.evidence else ()
    has_verdict = options.verdict != "none"
    named = (
        *_TEMPLATES,
        *evidence,
        *(_VERDICT_TEMPLATES if has_verdict else ()),
        f"severity-{options.severity}.txt",
        f"score-{options.score}.txt",
    )
    texts = (read_template(_worded(name.removesuffix(".txt"), options)) for name in named)
    if not has_verdict:
        return fingerprint(repr(options), *(_VERDICT_PLACE.sub("", text) for text in texts))
    return fingerprint(repr(options), options.verdict, *texts)


def _worded(name: str, options: PromptOptions) -> str:
    """Return the file of the template `name`; without a verdict, that of the first prompt."""
    if name.endswith(".gbnf"):
        return name
    return f"{name}-1.txt" if name in _REWORDED and options.verdict == "none" else f"{name}.txt"


def _score(aspect: Aspect, options: PromptOptions) -> str:
    labels = aspect.scale.labels
    lowest, *_, highest = numbers(aspect.scale)
    slots = {
        "ladder": " < ".join(labels),
        "worst_label": labels[0],
        "best_label": labels[-1],
        "low": lowest,
        "high": highest,
    }
    return fill_template(f"score-{options.score}.txt", slots)


def _severities(options: PromptOptions) -> tuple[str, ...]:
    """Return the spellings of a severity, mildest first."""
    return SEVERITY_WORDS if options.severity == "verbal" else tuple("12345")
