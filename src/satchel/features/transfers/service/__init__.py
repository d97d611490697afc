"""What can be done with transfers, one file per subject."""
