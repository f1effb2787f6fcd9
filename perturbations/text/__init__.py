"""Rules that damage a text: one file a kind of damage."""
