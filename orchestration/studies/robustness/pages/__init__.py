"""A robustness exam's findings as pages and as numbers."""
