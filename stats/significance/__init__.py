"""How sure it is that scores fell: tests of paired scores, and how many items they need."""
