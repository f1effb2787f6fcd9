"""Word lists of the rules; our own, deliberately small, of common words."""
