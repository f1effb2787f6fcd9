"""Contradictions that rules can detect for sure, between a text and a source it nearly repeats."""
