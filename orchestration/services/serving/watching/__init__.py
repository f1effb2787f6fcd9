"""Live traffic: sampled, judged, monitored for drift, and reported to other services."""
