"""Responses of the service; those about judged texts are the rows of `docs/data.md`."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from spanjury.judges.core import Decision, Ground, Located, Outcome, StopReason
from spanjury.orchestration.services.serving.batches.records import BatchState

_PROBABILITY = "Probability of an error, 0 to 1; null if no judge states one."

_UNVERIFIED = "Sentences that are neither confirmed nor marked, in order."


class _Row(BaseModel):
    """A part of a result row; releases to come may add members."""

    model_config = ConfigDict(extra="allow")


class PositionRow(_Row):
    """A position in a trajectory."""

    turn: int = Field(description="Number of the turn, from 1.")
    call: int = Field(description="Number of the call in the turn, from 1; 0 for its text.")
    path: str = Field(description="JSON path of a value among the arguments of the call.")
    start: int = Field(description="Offset in the turn's text, the tool's name or the value.")
    end: int = Field(description="Offset behind the last code point there.")


class EvidenceRow(_Row):
    """A place in an input that supports or contradicts a span."""

    input: str = Field(description="Header of the input.")
    start: int = Field(description="Offset of its first code point in that input.")
    end: int = Field(description="Offset behind its last code point.")
    text: str = Field(description="The place itself.")
    turn: int | None = Field(
        default=None, description="Number of the turn that is the input, in a trajectory."
    )


class SeatSpan(_Row):
    """An error that one judge marked."""

    start: int | None = Field(
        description="Offset of its first code point in the output; null if it is not located."
    )
    end: int | None = Field(description="Offset behind its last code point.")
    text: str = Field(description="The words at fault, as they stand in the output.")
    explanation: str = Field(description="Why they are.")
    severity: int = Field(description="1, a blemish, to 5, useless.", ge=1, le=5)
    category: str = Field(description="Kind of error; empty if the judge names none.")
    located: Located = Field(description="Certainty of the location.")
    evidence: list[EvidenceRow] = Field(description="Passages of the inputs about it.")
    probability: float | None = Field(description=_PROBABILITY)
    at: PositionRow | None = Field(default=None, description="Its position in a trajectory.")


class PanelSpan(SeatSpan):
    """An error in the report of the panel."""

    found_by: list[str] = Field(description="The seats that marked it.")


class UnverifiedRow(_Row):
    """A sentence that no judge confirms, and none marks an error in."""

    start: int = Field(description="Offset of its first code point in the output.")
    end: int = Field(description="Offset behind its last code point.")
    text: str = Field(description="The sentence, as it stands in the output.")
    probability: float = Field(description="Probability of an error in it, 0 to 1.")
    reason: str = Field(description="Why the judge cannot tell.")
    words: list[str] = Field(description="The words that could not be verified.")


class UsageRow(_Row):
    """Calls to models and their tokens."""

    calls: int = Field(description="Calls.")
    prompt: int = Field(description="Tokens read.")
    cached: int = Field(description="How many of these were read from a cache.")
    completion: int = Field(description="Tokens written.")
    reasoning: int = Field(description="How many of these are reasoning.")


class SeatRow(_Row):
    """The report of one judge."""

    judge: str = Field(description="Name of the seat.")
    signature: str = Field(description="All that its numbers depend on.")
    outcome: Outcome = Field(description="The end that it came to.")
    score: float | None = Field(description="Null unless the outcome is `scored`.")
    spans: list[SeatSpan] = Field(description="The errors that it marked.")
    rationale: str = Field(description="Explanation of the score.")
    usage: UsageRow
    seconds: float = Field(description="Seconds that it took.")
    reason: str = Field(description="Why there is no score.")
    reply: str | None = Field(description="The words of a model that could not be read.")
    error_probability: float | None = Field(description=_PROBABILITY)
    unverified: list[UnverifiedRow] = Field(default=[], description=_UNVERIFIED)


class BasisRow(_Row):
    """The ground of a decision."""

    ground: Ground = Field(description="The kind of thing that decided.")
    reason: str = Field(description="The reason in a sentence.")
    threshold: float | None = Field(description="Threshold that the probability was compared with.")
    false_alarms: float | None = Field(
        description="Share of error-free texts that get this decision or a more severe one."
    )
    measured_on: str = Field(description="The texts on which that was counted.")
    misses: float | None = Field(
        default=None,
        description=("For `ok`: share of the texts with an error that get this decision."),
    )
    spread: tuple[float, float] | None = Field(
        default=None, description="Lowest and highest share by kind of text."
    )


class UnaskedRow(_Row):
    """The judges that a cascade did not ask."""

    seats: list[str] = Field(description="Their names.")
    why: StopReason = Field(description="The kind of reason.")
    reason: str = Field(description="The reason, with its numbers.")
    score: float | None = Field(
        description="Estimate of the whole panel's score from the other seats' reports; null if "
        "the score is made of these reports alone."
    )


class ResultRow(_Row):
    """A panel's report on one text and one aspect."""

    id: str = Field(description="Name of the text.")
    aspect: str = Field(description="Name of the aspect.")
    score: float | None = Field(description="Null unless the outcome is `scored`; never a guess.")
    outcome: Outcome = Field(description="The end that the assessment came to.")
    spans: list[PanelSpan] = Field(description="The errors.")
    seats: list[SeatRow] = Field(description="Each judge's own report.")
    aggregation: str = Field(description="How the seats' scores were combined.")
    consolidator: str = Field(description="How the seats' errors were merged.")
    task: str = Field(description="Name of the task.")
    system: str = Field(description="Name of the system that wrote the text, if the row names it.")
    reason: str = Field(description="Why there is no score.")
    signature: str = Field(description="All that the numbers depend on.")
    set_aside: list[str] = Field(description="Seats whose errors were not merged.")
    left_out: int = Field(description="Errors that the consolidator left out.")
    decision: Decision | None = Field(description="Whether the text can be used unchanged.")
    error_probability: float | None = Field(description=_PROBABILITY)
    decision_basis: BasisRow | None = Field(description="What decided.")
    unasked: UnaskedRow | None = Field(description="Judges that were not asked; null if all were.")
    unverified: list[UnverifiedRow] = Field(default=[], description=_UNVERIFIED)


class CheckAnswer(_Row):
    """The report on one text."""

    id: str = Field(description="Name of the text.")
    task: str = Field(description="Name of the task.")
    system: str = Field(description="Name of the system that wrote it; empty if none is named.")
    output: str = Field(description="The text that was judged; offsets are in it.")
    decision: Decision | None = Field(
        description="The most severe decision on any aspect; null if an aspect has none and no "
        "other is worse."
    )
    results: list[ResultRow] = Field(description="One for each aspect.")


class SentenceRow(_Row):
    """A panel's report on one sentence and one aspect."""

    aspect: str = Field(description="Name of the aspect.")
    score: float | None = Field(description="Null unless the outcome is `scored`; never a guess.")
    outcome: Outcome = Field(description="The end that the assessment came to.")
    reason: str = Field(description="Why there is no score.")
    decision: Decision | None = Field(description="Whether the sentence can be used unchanged.")
    error_probability: float | None = Field(description=_PROBABILITY)
    spans: list[PanelSpan] = Field(description="The errors; offsets are in the text.")


class SentenceEvent(_Row):
    """The data of an event `sentence`: a sentence that has ended."""

    start: int = Field(description="Offset of its first code point in the text.")
    end: int = Field(description="Offset behind its last code point.")
    text: str = Field(description="The sentence.")
    decision: Decision | None = Field(
        description="The most severe decision on any aspect; null if it was not judged, as code."
    )
    error_probability: float | None = Field(description=_PROBABILITY)
    results: list[SentenceRow] = Field(description="One for each aspect of its kind.")


class ReportEvent(CheckAnswer):
    """The data of the last event, `report`: the report on the whole text."""

    stopped_at: int | None = Field(
        description="Offset behind the sentence that stopped the stream, with which the text that "
        "was judged ends; null if it was judged to its end."
    )


class BatchAnswer(BaseModel):
    """A batch, and how far it is."""

    id: str = Field(description="Its id.")
    state: BatchState = Field(description="`queued`, `running`, or how it ended.")
    panel: str = Field(description="Name of its panel.")
    created: datetime = Field(description="When it was submitted.")
    ended: datetime | None = Field(description="When it ended; null before.")
    rows: int = Field(description="Rows that are judged.")
    skipped: int = Field(description="Rows that could not be read, and were skipped.")
    done: int = Field(description="Results there are.")
    total: int = Field(description="Number of expected results: one for each row and aspect.")
    outcomes: dict[str, int] = Field(description="Results by outcome.")
    reason: str = Field(description="Why it ended early; empty if it did not.")
    seconds_left: float | None = Field(
        description="Estimated seconds left, at its recent speed; null if unknown."
    )


class BatchList(BaseModel):
    """The batches of a tenant."""

    batches: list[BatchAnswer] = Field(description="The oldest first.")


class PanelAnswer(BaseModel):
    """A panel that requests can name."""

    name: str = Field(description="Its name.")
    judges: list[str] = Field(description="Names of its seats.")
    aggregation: str = Field(description="How the seats' scores are combined.")
    signature: str = Field(description="All that its numbers depend on.")


class PanelList(BaseModel):
    """The panels that the operator has configured."""

    panels: list[PanelAnswer] = Field(description="By name.")


class AspectAnswer(BaseModel):
    """An aspect that requests can name."""

    name: str = Field(description="Its name.")
    definition: str = Field(description="What is judged.")
    inputs: list[str] | None = Field(
        description="Headers of the inputs that it uses; null for all of them."
    )
    is_default: bool = Field(description="Whether it is judged if a request names none.")


class TaskAnswer(BaseModel):
    """A task, and its aspects."""

    name: str = Field(description="Its name.")
    aliases: list[str] = Field(description="Other names that it goes by.")
    input_headers: list[str] = Field(description="Usual headers of its inputs.")
    aspects: list[AspectAnswer] = Field(description="Its aspects.")


class TaskList(BaseModel):
    """The tasks, with their aspects."""

    tasks: list[TaskAnswer] = Field(description="By name.")


class Health(BaseModel):
    """The state of the service."""

    status: Literal["ok"] = Field(description="`ok`.")
