"""The calls of `benchmarks.batch_peers`, made by deepeval: G-Eval, with its steps given."""

# mypy: ignore-errors
# What it imports is in an environment of its own.

import contextlib
import io
import os
import tempfile

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_UPDATE_WARNING_OPT_IN"] = "0"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams
from peer import Order, print_cost


def run(order: Order, calls: int) -> int:
    """Score `calls` test cases, a call each; return how many have a score."""
    metric = GEval(
        name="consistency",
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        evaluation_steps=["Say whether the facts agree."],
        model=LocalModel(model="stub", base_url=f"{order.address}/json/v1", api_key="none-needed"),
    )
    cases = [LLMTestCase(input="", actual_output=order.prompt) for _ in range(calls)]
    with contextlib.redirect_stdout(io.StringIO()):
        done = evaluate(
            test_cases=cases,
            metrics=[metric],
            async_config=AsyncConfig(max_concurrent=order.connections),
            display_config=DisplayConfig(
                show_indicator=False, print_results=False, inspect_after_run=False
            ),
            cache_config=CacheConfig(write_cache=False),
        )
    scores = [result.metrics_data[0].score for result in done.test_results]
    return sum(score is not None for score in scores)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)  # it writes into the folder that it is called in
    print_cost(run)
