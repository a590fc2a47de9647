"""The simulator: the coroutines of `impl.core`, interrupted at any of their effects."""
