"""The calls of `benchmarks.batch_peers` made by pydantic-evals' judge, with a rubric."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

import asyncio  # noqa: TID251 - the peer runs on nothing else

from peer import read_order
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge


async def keep(output: str) -> str:
    """Keep the dataset's output unchanged."""
    return output


order = read_order()
provider = OpenAIProvider(base_url=f"{order.address}/tool/v1", api_key="none-needed")
judge = LLMJudge(rubric="The facts agree.", model=OpenAIChatModel("stub", provider=provider))
cases = [Case(name=str(number), inputs=prompt) for number, prompt in enumerate(order.prompts)]
dataset = Dataset(name="calls", cases=cases, evaluators=[judge])
report = asyncio.run(dataset.evaluate(keep, max_concurrency=order.connections, progress=False))
assert sum(bool(case.assertions) for case in report.cases) == len(order.prompts)
