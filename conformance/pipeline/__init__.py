"""Checks ingested logs: order, rules, findings; on Spark, or without it."""
