"""A partition that is moved: the real controller and replicas, put down between writes."""
