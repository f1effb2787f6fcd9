"""Data files: rows read into segments, results written as rows."""
