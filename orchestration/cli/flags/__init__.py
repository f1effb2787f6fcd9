"""The flags that commands share, each group once; those of one command stand with it."""
