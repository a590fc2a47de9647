"""Which invariants of a proof are found again, once they are taken away.

    python -m tests.bench.finding no_message_loss                      # each alone; hours
    python -m tests.bench.finding no_message_loss --several 5 --seed 1 --times 3
    python -m tests.bench.finding single_controller --seconds 60 --times 2

Each row is a search like that of `insync prove CLAIM --find --drop-invariants A,B`: whether the
proof goes through again for any number of brokers, with what, and in what time; else what no set of
candidates kept. `--seconds` ends a search between two of its rounds. With `--several` so many are
left out at a time, by `--seed` and the seeds after it. Leaves with 2 if any is not found again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from conformance.cli.chosen_system import system_named
from specs.finding.search import Effort, find_invariants
from specs.invariants import Proof
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.verdict import Verdict

PROOFS = {proof.claim: proof for proof in (SINGLE_CONTROLLER, NO_MESSAGE_LOSS)}


def left_out(proof: Proof, several: int, seed: int, times: int | None) -> Iterator[list[str]]:
    """What each search is to find: every invariant in turn, or some of a seed."""
    names = [one.name for one in proof.invariants]
    if several == 1:
        yield from [[name] for name in names[seed:][:times]]
    else:
        for number in range(times or 1):
            yield Random(seed + number).sample(names, several)


def row(proof: Proof, names: Sequence[str], effort: Effort) -> tuple[bool, str]:
    """One search: was it found, and what there is to say."""
    left = tuple(one for one in proof.invariants if one.name not in names)
    recorded = system_named(proof.system).recorded()
    found = find_invariants(replace(proof, invariants=left, lemmas=()), recorded, effort)
    holds = found.verdict is Verdict.HOLDS
    said = "; ".join(one.sentence for one in found.found) if holds else ", ".join(found.lost)
    counts = found.counts
    return holds, (f"{'found' if holds else 'open '} {found.seconds:6.0f} s  "
                   f"{counts.get('candidates', 0):5,} candidates  {', '.join(names)}\n"
                   f"      {said or 'nothing is needed'}")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row for each search, and how many were found."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.finding",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("claim", choices=sorted(PROOFS))
    parser.add_argument("--several", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--times", type=int, metavar="N")
    parser.add_argument("--seconds", type=float, default=600.0, metavar="S")
    asked = parser.parse_args(arguments)
    proof = PROOFS[asked.claim]
    results = []
    for names in left_out(proof, asked.several, asked.seed, asked.times):
        holds, text = row(proof, names, Effort(seconds=asked.seconds))
        results.append(holds)
        print(text, flush=True)
    print(f"{sum(results)} of {len(results)} found again")
    return 0 if all(results) else 2


if __name__ == "__main__":
    sys.exit(main())
