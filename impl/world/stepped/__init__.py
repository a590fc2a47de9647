"""Controllers that are suspended by a grain: every event, request and fault is a step."""
