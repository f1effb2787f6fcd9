"""Held-out evaluation: a judge's reports beside the targets of texts it was not trained on."""
