"""The agent writer: a model sees the marked text and returns a replacement for each passage.

Replacements are for existing passages, of bounded length and without the marks of the prompt; an
answer that violates this is returned to the model. The writer needs asyncio, as pydantic-ai does.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, PromptedOutput, RunContext, UsageLimits

from spanjury.judges.agent.conversation import converse
from spanjury.judges.core import ChatModel, Decoding, ParseError, fingerprint, signature
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.text import AnswerMark, fence, fill_template, read_template
from spanjury.orchestration.engine.text_repair.loop import Replacements
from spanjury.orchestration.engine.text_repair.places import MarkedPassage
from spanjury.orchestration.engine.text_repair.versions import Version

_PACKAGE = "spanjury.orchestration.engine"
_TEMPLATE = "rewrite.txt"
_GROWTH, _ALWAYS = 3, 200
"""A replacement has at most `_GROWTH` times the characters of its passage, plus `_ALWAYS`."""


class Rewritten(BaseModel):  # noqa: D101  the model would be sent it
    part: int
    text: str


class Answer(BaseModel):  # noqa: D101  as above
    edits: list[Rewritten]
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request: the passages, and the marks that no replacement may contain."""

    passages: tuple[MarkedPassage, ...]
    mark: AnswerMark
    fences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWriter:
    """Ask a model for the replacements of all passages at once.

    Parameters
    ----------
    retries
        How often an answer that fails its checks is returned to the model.
    grammar
        Whether the reply is constrained by a grammar, if the server supports one.
    """

    model: ChatModel
    retries: int = 2
    max_tokens: int = 2048
    grammar: bool = False
    _agent: Agent[Case, Answer] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must not be negative, got {self.retries!r}")
        # The dataclass is frozen, so fields that follow from others are set once by this means.
        object.__setattr__(self, "_agent", _agent(retries=self.retries))

    @property
    def signature(self) -> str:
        """Model, prompt, decoding and limits."""
        return signature(
            "writer",
            model=self.model.signature,
            prompt=fingerprint(read_template(_PACKAGE, _TEMPLATE)),
            retries=self.retries,
            max_tokens=self.max_tokens,
            grammar=self.grammar,
            code=code_digest(__name__),
        )

    async def replacements(self, version: Version) -> Replacements:
        """Return the model's replacements for the passages of `version`.

        Raise `ModelError` if the model gives no reply, and `ParseError` if no reply passes the
        checks.
        """
        case, prompt = _request(version)
        talk = await converse(
            self._agent,
            prompt,
            model=self.model,
            deps=case,
            limits=UsageLimits(request_limit=self.retries + 1),
            decoding=self._decoding(case),
        )
        if talk.output is None:
            raise ParseError(f"the writer's answer: {talk.reason}", reply=talk.reply)
        texts = {edit.part: edit.text for edit in talk.output.edits}
        return Replacements(texts=texts, usage=talk.usage)

    def _decoding(self, case: Case) -> Decoding:
        grammar = _grammar(case) if self.grammar else ""
        return Decoding(max_tokens=self.max_tokens, grammar=grammar)


def _agent(*, retries: int) -> Agent[Case, Answer]:
    """Return an agent that asks for JSON in its prompt, so that models need no tool calls."""
    agent = Agent(
        output_type=PromptedOutput(Answer, template=False),
        deps_type=Case,
        retries=retries,
        name="writer",
    )

    @agent.output_validator
    async def check(context: RunContext[Case], answer: Answer) -> Answer:
        if problems := [*_problems(answer, context.deps)]:
            raise ModelRetry("\n".join(problems))
        return answer

    return agent


def _problems(answer: Answer, case: Case) -> Iterator[str]:
    """Yield the problems of an answer, without quoting it."""
    if problem := case.mark.problem(answer.mark):
        yield problem
    passages = {passage.number: passage for passage in case.passages}
    parts = [edit.part for edit in answer.edits]
    for part in sorted(set(parts)):
        if part not in passages:
            yield f"part: there are parts 1 to {len(passages)}, not {part}"
        elif parts.count(part) > 1:
            yield f"part {part}: one text only"
    for edit in answer.edits:
        if edit.part in passages:
            longest = _longest(passages[edit.part])
            if len(edit.text) > longest:
                yield f"part {edit.part}: at most {longest} characters; only the part is replaced"
            if _holds_mark(edit.text, case):
                yield f"part {edit.part}: leave out the marks in square brackets"


def _longest(passage: MarkedPassage) -> int:
    return _GROWTH * len(passage.text) + _ALWAYS


def _holds_mark(text: str, case: Case) -> bool:
    own = (f"[{case.mark.mark}", f"[/{case.mark.mark}")
    return any(mark in text for mark in (*own, *case.fences))


def _request(version: Version) -> tuple[Case, str]:
    segment, passages = version.segment, version.passages
    task = version.results[0].aspect.task
    errors = "\n".join(line for passage in passages for line in _lines(passage))
    texts = {**segment.inputs, "Reported errors": errors}
    mark = AnswerMark.of([segment.output, *texts.values()], key="edits")
    marked = _marked(version.text, passages, code=mark.mark)
    fenced = fence({**segment.inputs, task.output_header: marked, "Reported errors": errors})
    slots = {
        "task_description": task.description,
        "material": fenced.text,
        "mark": fenced.mark,
        "output": task.output_header,
        "code": mark.mark,
    }
    case = Case(passages=passages, mark=mark, fences=fenced.marks)
    return case, fill_template(_PACKAGE, _TEMPLATE, slots)


def _marked(text: str, passages: Sequence[MarkedPassage], *, code: str) -> str:
    """Return `text` with a mark around each passage; `code` occurs in no text."""
    pieces: list[str] = []
    reached = 0
    for passage in passages:
        before = text[reached : passage.start]
        pieces += (
            before,
            f"[{code} {passage.number}]",
            passage.text,
            f"[/{code} {passage.number}]",
        )
        reached = passage.end
    return "".join((*pieces, text[reached:]))


def _lines(passage: MarkedPassage) -> Iterator[str]:
    """Yield each error as one line of JSON, so that no quoted text can begin another line."""
    for aspect, span in passage.errors:
        error: dict[str, object] = {
            "part": passage.number,
            "quote": span.text,
            "aspect": aspect,
            "severity": span.severity,
            "explanation": span.explanation,
        }
        if span.evidence:
            error["source"] = [evidence.text for evidence in span.evidence]
        yield json.dumps(error, ensure_ascii=False)


def _grammar(case: Case) -> str:
    """Return the grammar of an answer with one text for every passage, in order."""
    edits = ' ", " '.join(
        rf'"{{\"part\": {passage.number}, \"text\": \"" text "\"}}"' for passage in case.passages
    )
    begin = rf'"{{\"mark\": \"{case.mark.mark}\", \"edits\": ["'
    return f'root ::= {begin} {edits} "]}}"\ntext ::= [^"\\\\\\x00-\\x1F]{{0,{_ALWAYS}}}\n'
