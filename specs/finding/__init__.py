"""Finds the invariants of a proof from what steps read and write, and from the reachable states.

`vocabulary` makes the literals. From them `guided` makes clauses that exclude counterexamples to
induction (`reasons`) and hold in every reached state (`observed`). `fewest` chooses among the
clauses that steps keep (`candidates`), and `search` proves the choice. `answers` resumes a search
from a file, `notation` writes the invariants, `graph` draws which invariants need which others.
"""
