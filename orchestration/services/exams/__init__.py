"""Exams from Python: what the commands do, as functions whose findings have tables."""
