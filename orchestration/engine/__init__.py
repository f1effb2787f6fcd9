"""Run judges: panels, aggregation, consolidation and batches, without files or terminal output."""
