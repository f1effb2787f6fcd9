"""Contradictions that rules can tell for sure, where a text stands nearly verbatim beside its source."""
