"""Who is heard, and what is made of it."""
