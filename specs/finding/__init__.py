"""Finding the invariants of a proof, from what steps read and write and from reachable states.

`vocabulary` makes the literals, `observed` says which clauses of them hold in every state that was
reached, `houdini` keeps those that steps keep, `search` puts a minimal proof together, `notation`
writes it down, `graph` draws who needs whom.
"""
