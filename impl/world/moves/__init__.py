"""A partition that is moved: the core's controllers, suspended by a grain, and real replicas."""
