"""Panels of judges, what runs them, and what is made of their reports."""
