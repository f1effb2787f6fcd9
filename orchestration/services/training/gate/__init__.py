"""The gate: a distilled judge is examined beside its base and its teacher, and passes or not."""
