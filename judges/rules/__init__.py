"""Judges that follow rules: they ask no model, need no network, and say what they counted."""
