"""The protocol, written once: a notation, and the systems written in it, with versions and claims.

`model.systems.SYSTEMS` lists the systems; `model.language` is the notation for authors of systems.
"""
