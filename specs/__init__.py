"""The engines that check a system of `model`: exploring, finding, proving; and the proofs.

`specs.explorer` visits every state within bounds and finds shortest runs, `specs.prover` proves
without bounds, `specs.induction_counterexamples` shows in small values why a proof fails.
"""
