"""What judging is: its words as types, its errors, its ports.

Nothing here imports anything but the standard library; everything else builds on it.
The registry of plugins (`core.registry`) is not loaded with the rest: it is needed only where
plugins are, and reading the metadata of packages takes a fifth of the import.
"""

from spanjury.judges.core.aspect import Aspect, Kind, Task
from spanjury.judges.core.chat import (
    ChatRequest,
    Decoding,
    Finish,
    Message,
    Reply,
    Role,
    TokenLogprob,
    ToolCall,
    ToolSpec,
    Usage,
)
from spanjury.judges.core.consolidation import Consolidation, SpanRef
from spanjury.judges.core.errors import (
    RUN_ENDING,
    ClosedModelError,
    ConfigError,
    DataError,
    EvaluationError,
    JudgeError,
    MetricError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    OverloadedModelError,
    ParseError,
    PermanentModelError,
    PerturbationError,
    PluginError,
    RateLimitedModelError,
    RunFailedError,
    RunStoppedError,
    StoreError,
    TransientModelError,
    UnusableModelError,
)
from spanjury.judges.core.metric import (
    CorpusMetric,
    MergeableMetric,
    Metric,
    Sample,
    SegmentMetric,
)
from spanjury.judges.core.metric_card import MetricCard
from spanjury.judges.core.model_options import ModelOptions
from spanjury.judges.core.outcome import Outcome
from spanjury.judges.core.ports import (
    Aggregation,
    ChatModel,
    Consolidator,
    Judge,
    Memory,
    ModelOpener,
    PricedModel,
    Source,
)
from spanjury.judges.core.price import TokenPrice
from spanjury.judges.core.report import PanelReport, Report, Result, SeatReport, Verdict
from spanjury.judges.core.rescoring import Rescorable, Rescoring, Road
from spanjury.judges.core.scale import Scale
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.signature import fingerprint, signature
from spanjury.judges.core.span import MAX_SEVERITY, MIN_SEVERITY, ErrorSpan, Located
from spanjury.judges.core.version import VERSION

__all__ = [
    "MAX_SEVERITY",
    "MIN_SEVERITY",
    "RUN_ENDING",
    "VERSION",
    "Aggregation",
    "Aspect",
    "ChatModel",
    "ChatRequest",
    "ClosedModelError",
    "ConfigError",
    "Consolidation",
    "Consolidator",
    "CorpusMetric",
    "DataError",
    "Decoding",
    "ErrorSpan",
    "EvaluationError",
    "Finish",
    "Judge",
    "JudgeError",
    "Kind",
    "Located",
    "Memory",
    "MergeableMetric",
    "Message",
    "Metric",
    "MetricCard",
    "MetricError",
    "ModelError",
    "ModelOpener",
    "ModelOptions",
    "ModelRefusedError",
    "ModelTimeoutError",
    "Outcome",
    "OverloadedModelError",
    "PanelReport",
    "ParseError",
    "PermanentModelError",
    "PerturbationError",
    "PluginError",
    "PricedModel",
    "RateLimitedModelError",
    "Reply",
    "Report",
    "Rescorable",
    "Rescoring",
    "Result",
    "Road",
    "Role",
    "RunFailedError",
    "RunStoppedError",
    "Sample",
    "Scale",
    "SeatReport",
    "Segment",
    "SegmentMetric",
    "Source",
    "SpanRef",
    "StoreError",
    "Task",
    "TokenLogprob",
    "TokenPrice",
    "ToolCall",
    "ToolSpec",
    "TransientModelError",
    "UnusableModelError",
    "Usage",
    "Verdict",
    "fingerprint",
    "signature",
]
