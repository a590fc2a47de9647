"""Checking what was read: order, rules, findings; in Spark, or without it."""
