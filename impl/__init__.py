"""The reference implementation: mutable, imperative, runs in steps, written from the fact sheet."""
