"""Checks of an agent's calls, and of what it claims to have done, against what came before."""
