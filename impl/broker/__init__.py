"""The small broker, which only the world of `election` still asks; `impl.core` serves clients."""
