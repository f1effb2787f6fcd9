"""The local server of a page that shows runs."""
