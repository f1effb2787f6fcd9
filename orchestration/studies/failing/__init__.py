"""Results that a run may not pass with: conditions on reports, demands on means and shares."""
