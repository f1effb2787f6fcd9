from spanjury.orchestration.frameworks.assertions import aassert_no_errors as aassert_no_errors
from spanjury.orchestration.frameworks.assertions import assert_no_errors as assert_no_errors
from spanjury.orchestration.frameworks.deepeval import SpanjuryMetric as SpanjuryMetric
from spanjury.orchestration.frameworks.inspect_ai import spanjury_scorer as spanjury_scorer
from spanjury.orchestration.frameworks.langsmith import SpanjuryRunEvaluator as SpanjuryRunEvaluator
from spanjury.orchestration.frameworks.pydantic_evals import SpanjuryEvaluator as SpanjuryEvaluator

__all__ = [
    "SpanjuryEvaluator",
    "SpanjuryMetric",
    "SpanjuryRunEvaluator",
    "aassert_no_errors",
    "assert_no_errors",
    "spanjury_scorer",
]
