"""Proves claims about single steps of controllers, for any number of brokers and partitions.

These claims about steps need no invariant: a step satisfies them from any state, reachable or not.
So the claims that are explored within bounds are theorems about `topics` and `cluster`, for any
number of brokers, partitions, controllers and epochs.
"""

from __future__ import annotations

from model.systems import system
from specs.invariants import Proof
from specs.theorems.corollaries import of_every_step
from specs.theorems.theorem import Theorem

KEPT = (
    ("topics", "state_changes_are_valid", "state_changes_are_valid"),
    ("topics", "deposed_controllers_write_nothing", "deposed_controllers_write_nothing"),
    ("topics", "controllers_without_session_do_nothing", "controllers_without_session_do_nothing"),
    ("cluster", "single_writer", "cluster_has_a_single_writer"),
    ("cluster", "leader_epoch_never_falls", "leader_epoch_never_falls"),
    ("cluster", "dead_brokers_do_not_join_the_isr", "dead_brokers_do_not_join_the_isr"),
)
"""System, its claim, and the theorem's name: the claim's, where that is not another's too."""


def _every_step_claim(of: str, claim_name: str, name: str) -> Theorem:
    claim = next(one for one in system(of).claims if one.name == claim_name)
    nothing = Proof(claim_name, of, (), ())
    return Theorem(
        name,
        claim.sentence,
        f"every step of {of}, from any state; any number of brokers, partitions and epochs",
        lambda version, switches: of_every_step(
            nothing, claim.function, claim_name, system(of).recorded(version, switches)
        ),
        (),
        of,
    )


STEP_CLAIMS = tuple(_every_step_claim(*one) for one in KEPT)
