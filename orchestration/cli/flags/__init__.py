"""The flags of the commands: each has a name on the command line, in the environment, in code."""
