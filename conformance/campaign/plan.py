"""The plan of a campaign: every seed under every fault profile, with each planted bug or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NOTHING = "-"
"""No bug is planted: the implementation as it is."""


@dataclass(frozen=True)
class CampaignRun:
    """One run of a campaign; `number` is its place, from 0."""

    number: int
    seed: int
    profile: str
    planted: str


@dataclass(frozen=True)
class CampaignPlan:
    """Seeds `first` to `last`, both included; `planted` are ids of historic bugs, or NOTHING."""

    first: int
    last: int
    profiles: tuple[str, ...]
    planted: tuple[str, ...]
    steps: int
    brokers: int

    def cells(self) -> Iterator[CampaignRun]:
        """Every run, always in this order; tables depend on nothing else."""
        number = 0
        for planted in self.planted:
            for profile in self.profiles:
                for seed in range(self.first, self.last + 1):
                    yield CampaignRun(number, seed, profile, planted)
                    number += 1

    def __len__(self) -> int:
        return (self.last - self.first + 1) * len(self.profiles) * len(self.planted)
