"""Campaigns: runs over seeds × fault profiles × planted bugs, recorded and judged."""

from conformance.campaign.campaign_folder import CampaignFolder, OtherCampaignError
from conformance.campaign.plan import NOTHING, CampaignPlan, CampaignRun
from conformance.campaign.run_campaign import CampaignEngine, LocalCampaign, run_whole_campaign
from conformance.campaign.summary import SummaryLine, summary

__all__ = [
    "NOTHING",
    "CampaignRun",
    "CampaignEngine",
    "CampaignFolder",
    "SummaryLine",
    "LocalCampaign",
    "OtherCampaignError",
    "CampaignPlan",
    "run_whole_campaign",
    "summary",
]
