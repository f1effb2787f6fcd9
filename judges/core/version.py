"""The version of the package, written once; it is printed behind every signature."""

__all__ = ["VERSION"]

VERSION = "0.2.0"
