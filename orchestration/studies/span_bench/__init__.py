"""The span bench: a judge's error spans and decisions beside what people marked, and baselines."""
