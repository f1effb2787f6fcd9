"""Checks of a text's form: each takes a `FormText` and yields the errors it is sure of."""
