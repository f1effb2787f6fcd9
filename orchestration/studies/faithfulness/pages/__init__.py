"""What a faithfulness exam found, as text for programs and for people."""
