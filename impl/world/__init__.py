"""Simulated worlds that run the implementation: steps, simulators and traces."""
