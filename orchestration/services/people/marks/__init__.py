"""People's marks of a run: kept, exported, imported, compared with each other and judges."""
