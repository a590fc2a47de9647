"""Where the model and the implementation meet: conformance, the pipeline, the command line."""
