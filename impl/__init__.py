"""The reference implementation: mutable, imperative, steppable, written from the fact sheet."""
