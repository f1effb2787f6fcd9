"""The tasks that the command line and the Python face offer."""
