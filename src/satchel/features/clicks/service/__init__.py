"""The use cases of clicks, one file per subject; what depends on the store is in `embedded/` and `streamed/`."""
