"""Training data for a distilled judge: from a panel's verdicts, or from damage alone."""
