"""Inductive invariants, one readable file a proof: name, formula, plain words, why it is needed."""
