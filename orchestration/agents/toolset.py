"""Tools over a panel for agents of pydantic-ai: check a text, compare two, list the aspects.

The model reads a report as text; the program finds the same as dataclasses in the metadata of the
tool's return. A name that does not exist is sent back to the model.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool, ToolReturn

from spanjury.judges.core import ConfigError, check_arguments
from spanjury.orchestration.agents.sources import SourceOf, source_in
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging import agent_reports
from spanjury.orchestration.services.judging.check import Source
from spanjury.orchestration.services.serving import agent_tools

D = TypeVar("D")
"""The dependencies of the agent, which only a function that returns the source looks at."""


def jury_toolset(
    panel: Panel,
    *,
    source: SourceOf[D] = None,
    task: str | None = None,
    aspects_files: Sequence[Path] = (),
) -> FunctionToolset[D]:
    """Return tools for ``Agent(toolsets=[…])``: `check_text`, `compare_texts`, `list_aspects`.

    Parameters
    ----------
    panel
        An open panel, which may be shared by agents of one loop.
    source
        What texts are compared with, which may include a ``Question``, or a function of the
        `RunContext` that returns it: then the model cannot name another. None to have the model
        name the source and the question.
    task
        The task of the texts, in place of a guess.
    aspects_files
        TOML files that add tasks and aspects.
    """
    check_arguments(jury_toolset, locals())
    jury = _Jury(panel=panel, task=task, aspects_files=tuple(aspects_files))
    tools: _AskingTools | _BoundTools[D] = (
        _AskingTools(jury=jury) if source is None else _BoundTools(jury=jury, source=source)
    )
    functions = (tools.check_text, tools.compare_texts, jury.list_aspects)
    return FunctionToolset(
        [Tool(function, docstring_format="google") for function in functions], id="jury"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Jury:
    panel: Panel
    task: str | None
    aspects_files: tuple[Path, ...]

    async def check(
        self, text: str, *, aspects: list[str] | None, source: Source | None, question: str = ""
    ) -> ToolReturn:
        with _sent_back():
            checked = await agent_tools.check_text(
                self.panel,
                text,
                source=source or None,
                question=question or None,
                task=self.task,
                aspects=aspects or (),
                aspects_files=self.aspects_files,
            )
        return ToolReturn(return_value=agent_reports.check_lines(checked), metadata=checked)

    async def compare(
        self,
        a: str,
        b: str,
        *,
        aspects: list[str] | None,
        source: Source | None,
        question: str = "",
    ) -> ToolReturn:
        with _sent_back():
            compared = await agent_tools.compare_texts(
                self.panel,
                a,
                b,
                source=source or None,
                question=question or None,
                task=self.task,
                aspects=aspects or (),
                aspects_files=self.aspects_files,
            )
        return ToolReturn(return_value=agent_reports.comparison_lines(compared), metadata=compared)

    def list_aspects(self, task: str = "") -> str:
        """List the aspects that texts can be judged on, with what each asks.

        Args:
            task: A task, such as summarization; leave out for all tasks.
        """
        with _sent_back():
            cards = agent_tools.list_aspects(task or self.task, aspects_files=self.aspects_files)
        return agent_reports.card_lines(cards)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskingTools:
    """Tools to which the model says what a text was made from."""

    jury: _Jury

    async def check_text(
        self,
        *,
        text: str,
        source: str = "",
        question: str = "",
        aspects: list[str] | None = None,
    ) -> ToolReturn:
        """Have judges mark the errors of a text, with reasons, severities and a decision.

        Args:
            text: The text to check.
            source: The text that it was made from, such as the article of a summary.
            question: The question that the text answers, if any.
            aspects: Names from list_aspects; leave out for the default ones.
        """
        return await self.jury.check(text, aspects=aspects, source=source, question=question)

    async def compare_texts(
        self,
        *,
        a: str,
        b: str,
        source: str = "",
        question: str = "",
        aspects: list[str] | None = None,
    ) -> ToolReturn:
        """Have judges say which of two texts is better on each aspect, with a report on each.

        Args:
            a: One text.
            b: The other text.
            source: The text that both were made from, such as the article of two summaries.
            question: The question that both answer, if any.
            aspects: Names from list_aspects; leave out for the default ones.
        """
        return await self.jury.compare(a, b, aspects=aspects, source=source, question=question)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoundTools(Generic[D]):
    """Tools whose source the program names."""

    jury: _Jury
    source: SourceOf[D]

    async def check_text(
        self, context: RunContext[D], *, text: str, aspects: list[str] | None = None
    ) -> ToolReturn:
        """Have judges mark the errors of a text, with reasons, severities and a decision.

        Args:
            context: The run.
            text: The text to check; its source is known.
            aspects: Names from list_aspects; leave out for the default ones.
        """
        source = await source_in(context, self.source)
        return await self.jury.check(text, aspects=aspects, source=source)

    async def compare_texts(
        self, context: RunContext[D], *, a: str, b: str, aspects: list[str] | None = None
    ) -> ToolReturn:
        """Have judges say which of two texts is better on each aspect, with a report on each.

        Args:
            context: The run.
            a: One text; its source is known.
            b: The other text, of the same source.
            aspects: Names from list_aspects; leave out for the default ones.
        """
        source = await source_in(context, self.source)
        return await self.jury.compare(a, b, aspects=aspects, source=source)


@contextmanager
def _sent_back() -> Iterator[None]:
    """Send a name that does not exist back to the model that wrote it."""
    try:
        yield
    except ConfigError as error:
        raise ModelRetry(f"{error}; list_aspects returns the names") from error
