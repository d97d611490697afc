"""Copies of whole stores, from any kind to any other, in steps that can be repeated."""
