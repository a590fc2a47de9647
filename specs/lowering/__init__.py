"""Compiles recorded terms to code or formulas: one lowering for each target.

    enumerated, grounding   fields as cells, quantifiers unrolled; what machine code and Python are
                            made of (`frozen`: cells that never change; `packing`: 64-bit words;
                            `decisions`: which guards instances share; `symmetry`: brokers' names)
    native_code             LLVM's text of a grounded system (`native_expand`, `packed_terms`,
                            `llvm_terms`); `specs/native` compiles and runs it
    python_terms            Python's text of a term, whatever a state is stored in: packed cells
                            (`python_code`, for `specs/plain` and lock-step) or sparse dicts
                            (`CompiledEvaluator` for the page, `specs/partial` for replays)
    z3_code                 formulas of Z3 over uninterpreted functions, for any number of brokers

`model/language/evaluate.py` defines what a term means; all lowerings are tested against it.
`specs/tla` writes TLA+ from the same terms.
"""
