"""What annotators marked, in the forms of other programs."""
