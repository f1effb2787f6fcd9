"""Request bodies: texts, and names that the operator configured; unknown fields are rejected."""

import json
from functools import cached_property
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spanjury.orchestration.services.judging.check import Output, Source
from spanjury.orchestration.services.judging.stream import StopWhen

DEFAULT = "default"
"""Name of the default panel."""

_ASPECTS = (
    "Names of aspects, as `/v1/aspects` lists them; `all` for all of the task."
    " `criterion: Every price is in euros` is a requirement of your own."
)
_TASK = "Name of a task, as `/v1/aspects` lists them."
_PANEL = "Name of a panel, as `/v1/judges` lists them."


class Document(BaseModel):
    """A passage of the source, by the name that evidence gives it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(default="", description="Name of the passage.", max_length=500)
    text: str = Field(description="The passage.")


class TextRequest(BaseModel):
    """The fields of all checks of a text."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "output": "The bridge opened in 1935.",
                    "source": "The bridge was opened in 1932.",
                    "aspects": ["consistency"],
                }
            ]
        },
    )

    output: str | None = Field(default=None, description="The text that is judged.")
    source: str | list[str | Document] | None = Field(
        default=None,
        description="The text that it was made from; or a list of passages, each a text or an"
        " object with `text` and, if evidence is to name it, `id`.",
    )
    inputs: dict[str, str | list[str]] | None = Field(
        default=None,
        description="Instead of `source`: texts by header, as `Question` and `Context`; a list "
        "under a header holds passages.",
        max_length=100,
    )
    question: str | None = Field(
        default=None,
        description="The question that the text answers, as the input `Question`; the task is then"
        " question-answering, unless `task` or the aspects name another.",
    )
    task: str | None = Field(
        default=None,
        description=f"{_TASK} Without it, the task of the aspects, or the likely one.",
        max_length=100,
    )
    aspects: list[str] = Field(
        default=[], description=f"{_ASPECTS} By default, the aspects of the task.", max_length=50
    )
    rubric: dict[str, object] | None = Field(
        default=None,
        description="Weighted criteria to judge by, as a rubric file holds them: `name`, and"
        " `criteria` with `text`, `weight`, `must`, `kind` and `scale`.",
        max_length=10,
    )
    references: list[str] = Field(
        default=[], description="Texts that people would have accepted.", max_length=100
    )
    id: str = Field(
        default="",
        description="Your name for the text, which the report repeats; made of it by default.",
        max_length=500,
    )
    system: str = Field(
        default="",
        description="Name of the system that wrote the text, which the report repeats.",
        max_length=500,
    )
    panel: str = Field(default=DEFAULT, description=_PANEL, max_length=100)

    @model_validator(mode="after")
    def _name_one_source(self) -> Self:
        if self.source is not None and self.inputs is not None:
            raise ValueError("source and inputs are given, expected one of them")
        return self

    @property
    def judged(self) -> Output:
        """The text, or the messages of an agent."""
        return self.output or ""

    @property
    def specifications(self) -> list[dict[str, object]]:
        """The tools that an agent could call."""
        return []

    @cached_property
    def characters(self) -> int:
        """Number of characters of the output and of all texts that it is compared with."""
        texts = [self.output or "", self.question or "", *self.references]
        for given in (self.source, *(self.inputs or {}).values()):
            passages = given if isinstance(given, list) else [given or ""]
            texts += [each if isinstance(each, str) else each.text for each in passages]
        return sum(map(len, texts))

    @property
    def given_source(self) -> Source | None:
        """The source or the inputs, in the form of `request_of`."""
        if not isinstance(self.source, list):
            return self.source if self.inputs is None else self.inputs
        return [each if isinstance(each, str) else each.model_dump() for each in self.source]


class CheckRequest(TextRequest):
    """A text to be judged, with what it is to be judged by and on."""

    messages: list[dict[str, object]] | None = Field(
        default=None,
        description="Instead of `output`: what a user, an agent and its tools said, as messages of"
        " OpenAI, Anthropic, LangChain or pydantic-ai. They are judged by one another.",
        max_length=2000,
    )
    tools: list[dict[str, object]] = Field(
        default=[],
        description="Beside `messages`: the tools that the agent could call.",
        max_length=500,
    )

    @model_validator(mode="after")
    def _name_one_output(self) -> Self:
        if (self.output is None) == (self.messages is None):
            raise ValueError("expected either output or messages")
        return self

    @property
    def judged(self) -> Output:
        """The text, or the messages of an agent."""
        return (self.messages or []) if self.output is None else self.output

    @property
    def specifications(self) -> list[dict[str, object]]:
        """The tools that an agent could call."""
        return self.tools

    @cached_property
    def characters(self) -> int:
        """As in a text, with the messages and tools."""
        given = filter(None, (self.messages, self.tools))
        return super().characters + sum(len(json.dumps(each, ensure_ascii=False)) for each in given)


class StreamRequest(TextRequest):
    """A text to be judged sentence by sentence."""

    output: str = Field(description="The text that is judged.")
    stop_when: StopWhen | None = Field(
        default=None,
        description="Stop after the first sentence with this decision; `unsure` also stops after a"
        " faulty one.",
    )


class BatchQuery(BaseModel):
    """The parameters of a batch, which apply to all of its rows."""

    model_config = ConfigDict(extra="forbid")

    panel: str = Field(default=DEFAULT, description=_PANEL, max_length=100)
    task: str | None = Field(
        default=None,
        description=f"{_TASK} Without it, the row's own task, or the likely one.",
        max_length=100,
    )
    aspect: list[str] = Field(
        default=[],
        description=f"{_ASPECTS} Repeatable; by default, the aspects of the task.",
        max_length=50,
    )
    rubric: str | None = Field(
        default=None,
        description="Weighted criteria to judge by: the JSON object that a rubric file holds.",
        max_length=20_000,
    )
    skip_bad_rows: bool = Field(
        default=False, description="Skip rows that cannot be read instead of refusing the batch."
    )
