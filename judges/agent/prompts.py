"""Prompts of the agents; the texts are in ``templates`` next to this file."""

from collections.abc import Mapping, Sequence

from spanjury.judges.agent.passages import Passage
from spanjury.judges.core import Aspect, Segment, fingerprint
from spanjury.judges.tasks import describe
from spanjury.judges.text import fence, fill_template, read_template

_PACKAGE = "spanjury.judges.agent"
_TEMPLATES = (
    "evidence",
    "form-prompted",
    "form-tool",
    "hand_in",
    "judge",
    "nothing-found",
    "read_passage",
    "retry",
    "search_source",
    "system",
)


def read(name: str) -> str:
    """Return a template by name."""
    return read_template(_PACKAGE, f"{name}.txt")


def fill(name: str, about: Mapping[str, str]) -> str:
    """Return a template with every ``$word`` replaced."""
    return fill_template(_PACKAGE, f"{name}.txt", about)


def prompt_fingerprint() -> str:
    """Return a digest of all templates."""
    return fingerprint(*map(read, _TEMPLATES))


def task_prompt(
    segment: Segment,
    aspect: Aspect,
    *,
    passages: Sequence[Passage],
    form: str,
    max_errors: int,
    max_lookups: int,
    mark: str,
) -> str:
    """Return the prompt: the judged text, the aspect, and the passages that can be looked up."""
    output = aspect.task.output_header
    labels = aspect.scale.labels
    about = {
        "task_description": aspect.task.description,
        "material": fence({output: segment.output}).text,
        "output": output,
        "aspect": aspect.spoken,
        "description": describe(aspect),
        "ladder": " < ".join(labels),
        "choices": " | ".join(labels),
        "contents": _contents(passages),
        "max_errors": str(max_errors),
        "max_lookups": str(max_lookups),
        "code": mark,
    }
    evidence = fill("evidence", about) + "\n\n" if passages else ""
    return fill("judge", {**about, "evidence": evidence, "form": fill(form, about)})


def _contents(passages: Sequence[Passage]) -> str:
    numbers: dict[str, list[int]] = {}
    for passage in passages:
        numbers.setdefault(passage.header, []).append(passage.number)
    return "\n".join(f"- {header}: passages {of[0]} to {of[-1]}" for header, of in numbers.items())
