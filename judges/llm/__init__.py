"""Judges that prompt a language model and parse its replies."""
