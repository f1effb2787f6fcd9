"""The local server for pages that show runs."""
