"""Traces of running processes, put together and judged by the model, line by line."""
