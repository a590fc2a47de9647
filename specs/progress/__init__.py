"""Progress for any number of brokers: what happens in the end, once faults have ended.

`ranking` says what a ranking is, and why it proves a claim `@always_eventually`; `obligations`
makes the formulas for the solvers; `after_faults` lets the faults of a system end; `loops` asks an
explorer the same within small bounds. The claims and their rankings are in `specs.proofs.progress`.
"""
