"""The contracts of the three stores, and nothing else."""
