"""Pages that a browser opens from disk: one file each, which needs no network."""
