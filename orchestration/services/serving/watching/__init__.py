"""Live traffic: sampled, judged, watched for changes, and reported to other services."""
