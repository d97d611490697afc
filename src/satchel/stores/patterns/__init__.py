"""Mechanisms that several slices need on a store, written once.

Optimistic update with backoff, idempotency key, lease, sweep cursor, throttle: each states what it guarantees.
"""
