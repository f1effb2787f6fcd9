"""Drawings of metrics: self-contained pages, one file each."""
