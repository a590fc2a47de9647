"""Finding the invariants of a proof: from what steps read and write, and from what is reachable.

`vocabulary` makes the literals. Of these `guided` makes clauses against counterexamples to
induction (`reasons`), that hold in every state that was reached (`observed`); `fewest` chooses
among those that steps keep (`candidates`), `search` has the choice proved. `answers` lets a search
go on from a file, `notation` writes what is found, `graph` draws who needs whom.
"""
