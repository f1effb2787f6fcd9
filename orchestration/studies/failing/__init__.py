"""Results that a run may not pass with: conditions on reports, requirements on means and shares."""
