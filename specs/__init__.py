"""The engines that explore and prove the systems of `model`, and the proofs themselves.

`specs.explorer` visits every state within bounds and finds shortest runs, `specs.prover` proves
without bounds, `specs.induction_counterexamples` shows with small values why a proof fails.
"""
