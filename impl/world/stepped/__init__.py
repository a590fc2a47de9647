"""Clusters whose controllers a grain suspends: every event, request and fault is a step."""
