"""The services behind the command line and the Python interface."""
