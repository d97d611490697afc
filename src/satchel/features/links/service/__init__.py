"""Use cases of links, one file per subject."""
