"""People's marks of a run: stored, exported, imported, and compared with each other and judges."""
