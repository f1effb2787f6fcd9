"""The judge `reader`: a small encoder reads each sentence together with passages of its source."""
