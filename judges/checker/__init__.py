"""The judge `checker`: any model that says whether a passage supports a claim takes a seat."""
