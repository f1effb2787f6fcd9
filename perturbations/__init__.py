"""Controlled damage to texts and reports, to see whether a judge notices."""
