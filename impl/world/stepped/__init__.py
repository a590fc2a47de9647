"""Clusters whose controllers are suspended at a grain's points: every event and fault is a step."""
