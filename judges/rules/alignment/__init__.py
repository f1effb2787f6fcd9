"""Contradictions that rules can tell for sure: a text beside the source it nearly repeats."""
