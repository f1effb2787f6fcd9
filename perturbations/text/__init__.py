"""Rules that damage a text: one file for each kind of damage."""
