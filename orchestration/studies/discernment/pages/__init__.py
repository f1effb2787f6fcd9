"""What an exam found, as text for programs and for people."""
