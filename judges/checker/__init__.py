"""The judge `checker`: makes a judge of any model that decides if a passage supports a claim."""
