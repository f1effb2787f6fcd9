"""The calls of `benchmarks.batch_peers`, made by inspect-ai: a model-graded scorer, no solver."""

# mypy: ignore-errors
# What it imports is in an environment of its own.

import tempfile

from inspect_ai import Task, eval  # noqa: A004 - its own name
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver
from peer import Order, print_cost


@solver
def nothing() -> Solver:
    """Leave the output that the dataset gives."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        return state

    return solve


def run(order: Order, calls: int) -> int:
    """Score `calls` samples, a call each; return how many have a score."""
    model = get_model(
        "openai-api/stub/stub",
        base_url=f"{order.address}/v1",
        api_key="none-needed",
        config=GenerateConfig(max_connections=order.connections),
    )
    samples = [Sample(input=order.prompt, target="", id=number + 1) for number in range(calls)]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=nothing(),
        scorer=model_graded_qa(
            template="{question}",
            grade_pattern=r"Overall score: (F)air",
            partial_credit=True,
            model=model,
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(
            task,
            model="mockllm/model",
            display="none",
            log_dir=folder,
            max_samples=order.connections,
            log_level="warning",
        )
    assert log.status == "success", log.error
    return log.results.completed_samples


print_cost(run)
