"""The simulator runs the coroutines of `impl.core`, and suspends them at any effect."""
