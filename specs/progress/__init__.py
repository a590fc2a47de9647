"""Proves progress for any number of brokers: what eventually happens once faults have ended.

`ranking` defines rankings, and explains why one proves a claim `@always_eventually`; `obligations`
makes the formulas for the solvers; `after_faults` makes the faults of a system end; `loops` checks
the claims by exploration within small bounds. Claims and rankings: `specs.proofs.progress`.
"""
