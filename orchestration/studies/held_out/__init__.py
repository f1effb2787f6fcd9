"""The exam of what a judge was taught: its reports beside those that are due on held-out texts."""
