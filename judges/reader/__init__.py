"""The judge `reader`: a small encoder reads each sentence beside its source."""
