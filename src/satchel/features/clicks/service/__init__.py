"""What people do with clicks, one file per subject."""
