"""Parts shared by the two scripts for deepeval: G-Eval with fixed steps, and the test cases."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams
from peer import Order

__all__ = ["cases", "metric"]


def metric(order: Order) -> GEval:
    """Return a metric that makes one call per case."""
    return GEval(
        name="consistency",
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        evaluation_steps=["Say whether the facts agree."],
        model=LocalModel(model="stub", base_url=f"{order.address}/json/v1", api_key="none-needed"),
    )


def cases(order: Order) -> list[LLMTestCase]:
    """Return one case per prompt."""
    return [LLMTestCase(input="", actual_output=prompt) for prompt in order.prompts]
