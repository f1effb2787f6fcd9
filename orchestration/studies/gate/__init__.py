"""The gate: a distilled judge's measures beside its base's and its teacher's, and demands."""
