"""A jury of judges that marks the error spans of generated text."""
