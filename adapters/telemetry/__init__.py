"""Traces of judges and models. OpenTelemetry is imported only if the program has set it up."""
