"""People's marks: import, sample and compare them, and choose judges by them."""
