"""The comparison of systems pair by pair: which texts meet, what judges say, what follows."""
