"""The use cases of rooms, one file per subject."""
