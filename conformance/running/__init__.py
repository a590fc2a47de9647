"""Puts traces of running processes together, and judges them by the model, line by line."""
