"""Training data of the token form: texts in which each word is supported by the source or not."""
