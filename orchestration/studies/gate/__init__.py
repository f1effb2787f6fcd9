"""Whether a distilled judge passes: its measures beside its base's, its teacher's, and demands."""
