"""Kafka's rules as plain Python functions: what a step decides, restated without any state.

No transition uses them: they are no part of the model. They are asked for every small input beside
the implementation (`conformance.rules`), and answer cases of Kafka's behaviour that no transition
decides (`conformance.vectors`, which says of each answer whose it is); where a transition decides
too, both must say the same.
"""
