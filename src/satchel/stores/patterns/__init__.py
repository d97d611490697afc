"""Mechanisms that several slices need on a store, written once: each states what it guarantees."""
