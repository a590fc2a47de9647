"""The native engine: machine code from the recorded protocol, exact tables, several workers."""
