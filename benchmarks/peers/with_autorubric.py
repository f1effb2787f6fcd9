"""The calls of `benchmarks.batch_peers` made by autorubric, with a rubric of one criterion."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

import asyncio  # noqa: TID251 - the peer runs on nothing else

from autorubric import Criterion, LLMConfig, Rubric, RubricDataset
from autorubric.eval import EvalConfig, EvalRunner
from autorubric.graders import CriterionGrader
from peer import read_order

order = read_order()
model = LLMConfig(
    model="openai/stub",
    api_base=f"{order.address}/rubric/v1",
    api_key="none-needed",
    max_parallel_requests=order.connections,
)
rubric = Rubric([Criterion(name="facts", weight=1.0, requirement="The facts agree.")])
dataset = RubricDataset(prompt="Summarise.", rubric=rubric)
for number, prompt in enumerate(order.prompts):
    dataset.add_item(submission=prompt, description=str(number))
runner = EvalRunner(
    dataset=dataset,
    grader=CriterionGrader(judge_model_config=model),
    config=EvalConfig(show_progress=False, max_concurrent_items=order.connections),
)
result = asyncio.run(runner.run())
scores = [item.report.score for item in result.item_results]
assert len(scores) == len(order.prompts)
assert None not in scores
