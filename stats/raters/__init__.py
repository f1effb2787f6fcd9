"""Raters: their agreement, and what each seat contributes to a panel."""
