"""Checks of an agent's calls, and of its claims about its actions, against the turns before."""
