"""How far spans of texts agree, and whether they lie where the errors are."""
