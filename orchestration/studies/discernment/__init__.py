"""The discernment exam: whether scores fall when texts are damaged."""
