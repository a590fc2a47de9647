"""Finding the invariants of a proof: from what steps read and write, and from what is reachable.

`vocabulary` makes the literals. From a claim alone: `observed` says which clauses of them hold in
every state that was reached, `houdini` keeps those that steps keep. Where most of a proof is given,
`guided` makes clauses from counterexamples to induction. `search` puts a minimal proof together,
`notation` writes it down, `graph` draws who needs whom.
"""
