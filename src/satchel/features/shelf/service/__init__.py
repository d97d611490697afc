"""What people do with their shelf, one file per subject."""
