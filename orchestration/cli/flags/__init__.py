"""The flags that commands share, each group once; others are defined with their command."""
