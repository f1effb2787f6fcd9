"""Judges for evaluation frameworks, each in the way in which its framework takes one."""
