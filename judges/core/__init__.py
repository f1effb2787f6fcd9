"""Types, errors and ports of judging.

Nothing here imports anything but the standard library; everything else builds on it.
Not loaded with the rest, since their import takes long and not everyone needs them: the registry
of plugins (`core.registry`), the keys of a memory (`core.keys`) and digests of code
(`core.code_digest`).
"""

from spanjury.judges.core.addresses import without_secrets
from spanjury.judges.core.aspect import Aspect, Kind, Task
from spanjury.judges.core.chat import (
    ChatRequest,
    Decoding,
    Finish,
    Message,
    Reply,
    Role,
    TokenLogprob,
    TokenPrice,
    ToolCall,
    ToolSpec,
    Usage,
)
from spanjury.judges.core.consolidation import Consolidation, SpanRef
from spanjury.judges.core.decision import Decision
from spanjury.judges.core.errors import (
    RUN_ENDING,
    UNANSWERED,
    ClosedModelError,
    ConfigError,
    DataError,
    EvaluationError,
    JudgeError,
    MetricError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
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
    first_error_alone,
)
from spanjury.judges.core.evidence import Evidence
from spanjury.judges.core.forced import LikelyToken, forced_logprobs
from spanjury.judges.core.log import LOGGER, EventLog, bind_values, kind_of, release_values
from spanjury.judges.core.metric import (
    CorpusMetric,
    MergeableMetric,
    Metric,
    Sample,
    SegmentMetric,
)
from spanjury.judges.core.metric_card import MetricCard
from spanjury.judges.core.model_options import ModelOptions
from spanjury.judges.core.ports import (
    Aggregation,
    ChatModel,
    Consolidator,
    Judge,
    KeyedJudge,
    Memory,
    ModelOpener,
    PricedModel,
    Source,
)
from spanjury.judges.core.reading import (
    Label,
    LabelledWindow,
    Likelihoods,
    Window,
    WindowReader,
    WindowReading,
)
from spanjury.judges.core.report import PanelReport, Report, Result, SeatReport, Verdict
from spanjury.judges.core.rescoring import Rescorable, Rescoring, RescoringMethod
from spanjury.judges.core.scale import Scale
from spanjury.judges.core.scrubbing import (
    MASK,
    hide,
    is_secret_name,
    reason_of,
    scrub,
    secret_places,
)
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.server_address import address_of, check_address
from spanjury.judges.core.signature import fingerprint, signature, stamped, unstamped
from spanjury.judges.core.span import MAX_SEVERITY, MIN_SEVERITY, ErrorSpan, Located
from spanjury.judges.core.version import VERSION
from spanjury.judges.core.visible import code_span, markdown, one_line, shown, shown_json

__all__ = [
    "LOGGER",
    "MASK",
    "MAX_SEVERITY",
    "MIN_SEVERITY",
    "RUN_ENDING",
    "UNANSWERED",
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
    "Decision",
    "Decoding",
    "ErrorSpan",
    "EvaluationError",
    "EventLog",
    "Evidence",
    "Finish",
    "Judge",
    "JudgeError",
    "KeyedJudge",
    "Kind",
    "Label",
    "LabelledWindow",
    "Likelihoods",
    "LikelyToken",
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
    "RescoringMethod",
    "Result",
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
    "Window",
    "WindowReader",
    "WindowReading",
    "address_of",
    "bind_values",
    "check_address",
    "code_span",
    "fingerprint",
    "first_error_alone",
    "forced_logprobs",
    "hide",
    "is_secret_name",
    "kind_of",
    "markdown",
    "one_line",
    "reason_of",
    "release_values",
    "scrub",
    "secret_places",
    "shown",
    "shown_json",
    "signature",
    "stamped",
    "unstamped",
    "without_secrets",
]
