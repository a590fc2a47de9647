"""Compares log directories of several brokers: `insync inspect`."""
