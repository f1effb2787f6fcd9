"""The version of the package, written once; it is printed after every signature."""

VERSION = "0.2.0"
