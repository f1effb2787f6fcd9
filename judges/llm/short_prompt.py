"""The short prompt of a distilled judge, and the reading of a reply whose score is last.

Training and judging use the same prompt. Source: Kartáč et al. (2025), OpeNLGauge, section 5.2
and Appendix F: a model that learns the task from examples needs no more than the task, the
aspect and the material; the wording is ours. The reply is that of the annotator, with a
number from 0 to 100 for the score, and is read by the annotator's parser.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from spanjury.judges.core import Aspect, Message, Segment, fingerprint
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.llm.percent import PERCENT
from spanjury.judges.llm.prompt import shown_texts
from spanjury.judges.llm.wording import fill_template, read_template

Layout = Literal["score-last", "verdict-first"]
"""Order of a reply: the score at its end, or the verdict at its beginning
(`judges.llm.verdict_first`). A model writes the order of its training, which its folder records;
older folders, which record none, have the score last."""

MAX_ERRORS = 8
"""Maximum number of errors listed."""

_TEMPLATES: Mapping[Layout, str] = MappingProxyType(
    {"score-last": "short.txt", "verdict-first": "verdict-first.txt"}
)
_SHORTEST_MARK = 3
_TILDES = re.compile("~+")


def messages_for(
    segment: Segment, aspect: Aspect, *, layout: Layout = "score-last"
) -> tuple[Message, ...]:
    """Return the conversation that asks for errors and a number: one user message.

    It shows the inputs that the aspect may read.
    """
    output = aspect.task.output_header
    slots = {
        "task_description": aspect.task.description,
        "material": _material(shown_texts(segment, aspect)),
        "output": output,
        "aspect": aspect.spoken.capitalize(),
        "definition": aspect.definition,
        "max_errors": str(MAX_ERRORS),
    }
    return (Message(role="user", content=fill_template(_TEMPLATES[layout], slots)),)


def read_number(reply: str, *, material: Material = NO_MATERIAL, cut: bool = False) -> ParsedReply:
    """Read a reply; its score is the number from 0 to 100 as written."""
    parsed = parse(reply, scale=PERCENT, material=material, cut=cut)
    return replace(parsed, score=None if parsed.score is None else parsed.score - PERCENT.low)


def short_fingerprint(layout: Layout = "score-last") -> str:
    """Return a digest of the template of the prompt."""
    return fingerprint(read_template(_TEMPLATES[layout]), str(MAX_ERRORS), str(_SHORTEST_MARK))


def _material(texts: Mapping[str, str]) -> str:
    """Put each text under its header between marks that no text contains."""
    longest = max(len(run) for text in texts.values() for run in ["", *_TILDES.findall(text)])
    mark = "~" * max(_SHORTEST_MARK, longest + 1)
    return "\n\n".join(f"{mark} {header}\n{text}\n{mark}" for header, text in texts.items())
