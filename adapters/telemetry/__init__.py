"""What judges and models do, told to OpenTelemetry where the program has it configured."""
