"""People's marks: take, sample and compare them, and choose judges by them."""
