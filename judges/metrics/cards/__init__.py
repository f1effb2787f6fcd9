"""The cards of our metrics: one TOML file each, named after the metric."""
