"""Judges that follow rules: they use no model, need no network, and report what they counted."""
