"""Meta-evaluation: how well judges and metrics agree with people."""
