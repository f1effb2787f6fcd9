"""The calls of `benchmarks.batch_peers` as a task for ``inspect eval``, graded by a model."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, model_graded_qa, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from peer import read_order


@solver
def nothing() -> Solver:
    """Keep the dataset's output unchanged."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        return state

    return solve


@scorer(metrics=[mean()])
def checked(graded: Scorer) -> Scorer:
    """Score 1 if `graded` can read the grade; otherwise end the run."""

    async def score(state: TaskState, target: Target) -> Score:
        given = await graded(state, target)
        assert given.answer == "F" or given.value == "F", given
        return Score(value=1.0, explanation=given.explanation, metadata=given.metadata)

    return score


@task
def graded() -> Task:
    """Score each prompt by one call; no other call is made."""
    order = read_order()
    model = get_model(
        "openai-api/stub/stub",
        base_url=f"{order.address}/v1",
        api_key="none-needed",
        config=GenerateConfig(max_connections=order.connections),
    )
    judged = model_graded_qa(
        template="{question}",
        grade_pattern=r"Overall score \(\w+\): (F)air",
        partial_credit=True,
        model=model,
    )
    samples = [Sample(input=prompt, target="") for prompt in order.prompts]
    return Task(dataset=MemoryDataset(samples), solver=nothing(), scorer=checked(judged))
