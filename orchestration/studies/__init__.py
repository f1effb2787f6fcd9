"""Studies of judges: data become arrays, arrays become findings, findings become tables."""
