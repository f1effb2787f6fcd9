"""Train a judge, and put it through the gate."""
