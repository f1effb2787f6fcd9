"""Drawings of metrics at work: pages that a browser opens from disk, one file each."""
