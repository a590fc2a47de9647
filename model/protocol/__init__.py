"""The text that systems share, one file for each actor; a system is composed of it."""
