"""Files that `insync new` writes: a system, a switch, a claim or a bug, each with a test."""

from conformance.scaffold.bugs import new_bug
from conformance.scaffold.claims import new_claim
from conformance.scaffold.edits import Edits, NotPossible
from conformance.scaffold.switches import new_switch
from conformance.scaffold.systems import new_system

__all__ = ["Edits", "NotPossible", "new_bug", "new_claim", "new_switch", "new_system"]
