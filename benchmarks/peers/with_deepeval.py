"""The calls of `benchmarks.batch_peers` made by `deepeval.evaluate`, concurrently."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from judged_by_deepeval import cases, metric
from peer import read_order

order = read_order()
done = evaluate(
    test_cases=cases(order),
    metrics=[metric(order)],
    async_config=AsyncConfig(max_concurrent=order.connections),
    display_config=DisplayConfig(
        show_indicator=False, print_results=False, inspect_after_run=False
    ),
    cache_config=CacheConfig(write_cache=False),
)
assert all(result.metrics_data[0].score is not None for result in done.test_results)
assert len(done.test_results) == len(order.prompts)
