"""Campaigns: runs over seeds × fault profiles × planted bugs, recorded and judged."""

from conformance.campaign.carry import CampaignEngine, LocalCampaign, carry_out
from conformance.campaign.kept import Folder, OtherCampaignError
from conformance.campaign.plan import NOTHING, CampaignPlan, CampaignRun
from conformance.campaign.summary import SummaryLine, summary

__all__ = [
    "NOTHING",
    "CampaignRun",
    "CampaignEngine",
    "Folder",
    "SummaryLine",
    "LocalCampaign",
    "OtherCampaignError",
    "CampaignPlan",
    "carry_out",
    "summary",
]
