"""Repair the planted errors of `summaries.jsonl`, and print each text before and after.

Without flags, a script replaces the model: it substitutes the words named in the evidence for the
wrong ones, and deletes errors without such words. With ``--model ollama/gemma2:27b``, or any other
model that spanjury supports, that model writes the repairs.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

import anyio
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury import ErrorSpan, open_panel, read_segments
from spanjury.agents import Repair, arepair

SUMMARIES = Path(__file__).parents[1] / "summaries.jsonl"
JUDGES = ("grounding", "form")
ASPECTS = ("consistency", "fluency")

_RIGHT_WORDS = (
    re.compile(r"The source says '(.+)'\.$"),
    re.compile(r'the nearest is "(.+)"\.$'),
)
_TWICE = re.compile(r'^"(.+)" occurs \d+ times in a row\.$')
_MARK = re.compile(r'^\{"mark": "(\w+)"', re.MULTILINE)


def follow_the_evidence(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer like a model that believes every report and knows nothing else."""
    del info
    prompt = next(
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart)
    )
    parts: dict[int, str] = {}
    for line in prompt.splitlines():
        if line.startswith('{"part"'):
            error = json.loads(line)
            part = error["part"]
            marked = re.search(rf"\[(\w+) {part}\](.*?)\[/\1 {part}\]", prompt, re.DOTALL)
            words = words_for(error["explanation"], marked[2] if marked else error["quote"])
            parts[part] = parts.get(part) or words
    mark = _MARK.search(prompt)
    answer = {
        "mark": mark[1] if mark else "",
        "edits": [{"part": part, "text": text} for part, text in parts.items()],
    }
    return ModelResponse(parts=[TextPart(json.dumps(answer))])


def words_for(explanation: str, marked: str) -> str:
    """Return the replacement that a report suggests for the marked words, or ""."""
    if explanation.endswith("the full stop is missing."):
        return f"{marked}."
    if explanation == "The sentence begins in lower case.":
        return marked.capitalize()
    if "HTML entity" in explanation:
        return unescape(marked)
    if "wrong encoding" in explanation:
        return marked.encode("cp1252").decode("utf-8", "ignore")
    for pattern in (*_RIGHT_WORDS, _TWICE):
        if match := pattern.search(explanation):
            return match[1]
    return ""


async def repair_all(model: str | Model, judges: Sequence[str]) -> list[Repair]:
    """Repair every summary with one panel, which stays open."""
    async with open_panel(judges=judges) as panel:
        return [
            await arepair(
                segment.output,
                source=segment.inputs,
                task=segment.task,
                aspects=ASPECTS,
                model=model,
                panel=panel,
            )
            for segment in read_segments(SUMMARIES)
        ]


def lines_of(name: str, repair: Repair) -> Iterator[str]:
    """Yield a text before and after repair, with errors in brackets, and any that remain."""
    before = repair.rounds[0].report
    yield f"{name}: {before.decision} -> {repair.report.decision} ({repair.stopped})"
    if not before.spans:
        return
    yield f"  - {bracketed(before.text, before.spans)}"
    for span in before.spans:
        yield f"      severity {span.severity}: {span.text!r}: {span.explanation}"
    yield f"  + {bracketed(repair.text, repair.report.spans)}"
    for edit in repair.edits:
        yield f"      {edit.before!r} -> {edit.after!r}"
    for error in repair.left:
        yield f"      left: {error.span.text!r}: {error.span.explanation}"


def bracketed(text: str, spans: Sequence[ErrorSpan]) -> str:
    """Put brackets around the located errors of a text."""
    opened = {span.start for span in spans}
    closed = {span.end for span in spans}
    marked = "".join(
        "]" * (index in closed) + "[" * (index in opened) + letter
        for index, letter in enumerate(text)
    )
    return marked + "]" * (len(text) in closed)


def main() -> None:
    """Repair the texts, and print them with a count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a model's name, as ollama/gemma2:27b; a script without")
    parser.add_argument("--judge", action="append", help="a judge of the panel; repeatable")
    flags = parser.parse_args()
    model = flags.model or FunctionModel(follow_the_evidence)
    repairs = anyio.run(repair_all, model, flags.judge or JUDGES)
    names = [segment.segment_id for segment in read_segments(SUMMARIES)]
    for name, repair in zip(names, repairs, strict=True):
        sys.stdout.write("\n".join(lines_of(name, repair)) + "\n")
    faulty = [repair for repair in repairs if repair.rounds[0].report.spans]
    mended = [repair for repair in faulty if not repair.left]
    sys.stdout.write(
        f"\n{len(faulty)} of {len(repairs)} texts had errors; {len(mended)} have none left, by the"
        " panel that guided the repair.\n"
    )


if __name__ == "__main__":
    main()
