"""The page of `spanjury view`: HTML, CSS and JavaScript, and the code that joins them."""
