"""The lowering to TLA+: a readable module and its configuration, for the model checker TLC.

    export = exported(recorded, recorded.system.limits({}))
    export.name, export.module, export.configuration

It is made from the recorded terms, like every other lowering. TLC finds exactly as many distinct
states as `insync explore` within the same bounds.
"""

from specs.tla.export import Export, exported

__all__ = ["Export", "exported"]
