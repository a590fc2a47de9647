"""Recorded terms compiled to code or formulas: one lowering for each target.

    enumerated, grounding   fields as cells, quantifiers unrolled; what machine code and Python are
                            made of (`frozen`: cells that never change; `packing`: 64-bit words;
                            `decisions`: which guards instances share; `symmetry`: brokers' names)
    native_code             LLVM's text of a grounded system (`native_expand`, `packed_terms`,
                            `llvm_terms`); `specs/native` compiles and runs it
    python_code             Python's text of a grounded system, for `specs/plain` and lock-step
    z3_code                 formulas of Z3 over uninterpreted functions, for any number of brokers
    closures                functions of sparse states, without bounds: quick enough for a page

`model/language/evaluate.py` says what a term means and is what all of them are held to. Beside them
stand `specs/tla` (TLA+) and `specs/partial/compiled_steps.py` (steps on real values, which replays
take), each beside its only user.
"""
