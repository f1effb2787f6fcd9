"""Servers that judge for other programs, over HTTP and over the Model Context Protocol."""
