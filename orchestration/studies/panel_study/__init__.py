"""Seats that a panel needs: agreement with people, redundancy, families, weights and cost."""
