"""Reads the logs of real brokers: files, lines, records, templates, typed events."""
