"""The gate: tests that a distilled judge must pass, in comparison with its base and its teacher."""
