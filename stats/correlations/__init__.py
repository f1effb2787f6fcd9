"""How far scores agree with people's, and whether one metric does so more than another."""
