"""Compares the model with the implementation, and has the log pipeline and the command line."""
