"""The gate: a distilled judge examined beside its base and its teacher, and let through or not."""
