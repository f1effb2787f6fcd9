"""Judges that ask a language model and read what it writes."""
