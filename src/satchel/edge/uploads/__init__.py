"""Resumable uploads over tus 1.0: bytes stream into the object store, and a slice takes over what has arrived."""
