"""Word lists of the rules; this project's own, small on purpose, of common words."""
