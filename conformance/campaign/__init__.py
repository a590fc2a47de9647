"""Campaigns: seeds × fault profiles × planted bugs, run, recorded, judged, told in one table."""

from conformance.campaign.carry import Engine, carry_out
from conformance.campaign.kept import Folder, OtherCampaignError
from conformance.campaign.local import LocalEngine
from conformance.campaign.plan import NOTHING, Cell, Plan
from conformance.campaign.summary import Line, summary

__all__ = [
    "NOTHING",
    "Cell",
    "Engine",
    "Folder",
    "Line",
    "LocalEngine",
    "OtherCampaignError",
    "Plan",
    "carry_out",
    "summary",
]
