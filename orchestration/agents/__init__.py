"""Reviews, tools, an output validator, a judged stream and a repair loop for agents."""
