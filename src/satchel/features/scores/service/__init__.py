"""The use cases of scores."""
