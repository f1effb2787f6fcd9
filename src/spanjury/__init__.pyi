from spanjury import agents as agents
from spanjury import exams as exams
from spanjury import frameworks as frameworks
from spanjury import testing as testing

__version__: str
from spanjury.judges.core import (
    Aspect,
    Decision,
    DecisionBasis,
    ErrorSpan,
    EvaluationError,
    Evidence,
    Judge,
    JudgeError,
    Located,
    Outcome,
    PanelReport,
    Report,
    Scale,
    Segment,
    Task,
    TokenPrice,
    Unverified,
)
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.judging.check import acheck, check
from spanjury.orchestration.services.judging.evaluation import TextReports, aevaluate, evaluate
from spanjury.orchestration.services.judging.metrics import score_metric
from spanjury.orchestration.services.judging.panels import (
    OpenedPanel,
    find_aspect,
    open_panel,
    read_segments,
)
from spanjury.orchestration.services.judging.stream import (
    JudgedSentence,
    StreamEnd,
    StreamEvent,
    TextPiece,
    astream,
    stream,
)
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

__all__ = [
    "Aspect",
    "Decision",
    "DecisionBasis",
    "ErrorSpan",
    "EvaluationError",
    "Evidence",
    "FailurePolicy",
    "Judge",
    "JudgeError",
    "JudgedSentence",
    "Limits",
    "Located",
    "ModelConfig",
    "OpenedPanel",
    "Outcome",
    "PanelConfig",
    "PanelReport",
    "Report",
    "Scale",
    "SeatConfig",
    "Segment",
    "StreamEnd",
    "StreamEvent",
    "Task",
    "TextPiece",
    "TextReport",
    "TextReports",
    "TokenPrice",
    "Unverified",
    "__version__",
    "acheck",
    "aevaluate",
    "astream",
    "check",
    "evaluate",
    "find_aspect",
    "open_panel",
    "read_segments",
    "score_metric",
    "stream",
]
