from spanjury import agents as agents
from spanjury import exams as exams
from spanjury import frameworks as frameworks
from spanjury import testing as testing
from spanjury.judges.core import Aspect as Aspect
from spanjury.judges.core import Decision as Decision
from spanjury.judges.core import DecisionBasis as DecisionBasis
from spanjury.judges.core import ErrorSpan as ErrorSpan
from spanjury.judges.core import EvaluationError as EvaluationError
from spanjury.judges.core import Evidence as Evidence
from spanjury.judges.core import Judge as Judge
from spanjury.judges.core import Located as Located
from spanjury.judges.core import Outcome as Outcome
from spanjury.judges.core import PanelReport as PanelReport
from spanjury.judges.core import Report as Report
from spanjury.judges.core import Scale as Scale
from spanjury.judges.core import Segment as Segment
from spanjury.judges.core import Task as Task
from spanjury.judges.core import Unverified as Unverified
from spanjury.orchestration.engine.metering import Limits as Limits
from spanjury.orchestration.engine.stopping import FailurePolicy as FailurePolicy
from spanjury.orchestration.services.judging.check import acheck as acheck
from spanjury.orchestration.services.judging.check import check as check
from spanjury.orchestration.services.judging.evaluation import TextReports as TextReports
from spanjury.orchestration.services.judging.evaluation import aevaluate as aevaluate
from spanjury.orchestration.services.judging.evaluation import evaluate as evaluate
from spanjury.orchestration.services.judging.metrics import score_metric as score_metric
from spanjury.orchestration.services.judging.panels import find_aspect as find_aspect
from spanjury.orchestration.services.judging.panels import open_panel as open_panel
from spanjury.orchestration.services.judging.panels import read_segments as read_segments
from spanjury.orchestration.services.judging.stream import JudgedSentence as JudgedSentence
from spanjury.orchestration.services.judging.stream import StreamEnd as StreamEnd
from spanjury.orchestration.services.judging.stream import TextPiece as TextPiece
from spanjury.orchestration.services.judging.stream import astream as astream
from spanjury.orchestration.services.judging.stream import stream as stream
from spanjury.orchestration.services.judging.text_report import TextReport as TextReport

__version__: str

__all__ = [
    "Aspect",
    "Decision",
    "DecisionBasis",
    "ErrorSpan",
    "EvaluationError",
    "Evidence",
    "FailurePolicy",
    "Judge",
    "JudgedSentence",
    "Limits",
    "Located",
    "Outcome",
    "PanelReport",
    "Report",
    "Scale",
    "Segment",
    "StreamEnd",
    "Task",
    "TextPiece",
    "TextReport",
    "TextReports",
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
