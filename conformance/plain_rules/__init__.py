"""Kafka's rules as plain Python functions: a step's decisions, restated without any state.

No transition uses them: they are not part of the model. `conformance.plain_rules.compare` compares
the implementation with most of them for every small input. `conformance.vectors` uses them for
those cases of Kafka's behaviour that no transition decides (errors, clocks, names, lists); each
such answer says so, and is not counted as the model's.
"""
