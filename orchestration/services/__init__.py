"""How people and programs reach spanjury: the command line and the Python face."""
