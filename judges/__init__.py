"""The judges, the types they share (`core`), and the text tools and tasks they use."""
