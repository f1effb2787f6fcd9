"""A trace score: the result on one aspect of one trace of live traffic."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceScore:
    """The result on one aspect of one trace.

    Parameters
    ----------
    score_id
        UUID, the same each time that the result is sent.
    trace_id
        Id of the trace: 32 hexadecimal digits from OpenTelemetry, else the id of its row.
    span_id
        Id of the span that contains the judged text, 16 hexadecimal digits; empty if there is none.
    aspect, task
        Names of aspect and task.
    outcome
        How the assessment ended, a value of `Outcome`.
    score, low, high
        The score, or None, and the lowest and the highest score of the aspect's scale.
    label
        The scale's word for the score; empty without a score.
    decision
        ``ok``, ``unsure`` or ``faulty``; empty if there is none.
    error_probability
        Probability of an error, 0 to 1; None if it is unknown.
    explanation
        The errors and the reasons in words.
    signature
        Everything about the panel that can change the score.
    started, judged
        When the trace started and when it was judged, in nanoseconds since 1970.
    names
        Ids that other services assigned to the trace, by the name of their attribute.
    """

    score_id: str
    trace_id: str
    span_id: str = ""
    aspect: str
    task: str = ""
    outcome: str
    score: float | None = None
    low: float
    high: float
    label: str = ""
    decision: str = ""
    error_probability: float | None = None
    explanation: str = ""
    signature: str = ""
    started: int = 0
    judged: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
