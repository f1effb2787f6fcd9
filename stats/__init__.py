"""What the numbers mean: arrays in, named tuples out; knows no report."""
