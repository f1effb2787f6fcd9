"""The version of the package, written once; it is printed behind every signature."""

VERSION = "0.2.0"
