"""Two judges by what their exams found on the same texts."""
