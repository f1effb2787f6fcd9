"""Repairing a text: a writer replaces marked errors, and the panel keeps the better version."""
