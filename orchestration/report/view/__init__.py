"""The page of `spanjury view`: HTML, CSS and JavaScript, and what joins them."""
