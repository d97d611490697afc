"""The use cases of albums, one file per subject."""
