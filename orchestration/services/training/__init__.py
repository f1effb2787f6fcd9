"""Train a judge, and test it at the gate."""
