"""What running processes traced, put together and judged by the model, line by line."""
