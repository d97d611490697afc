"""Satchel beside its peers: every figure is measured in one run, turn and turn about."""
