"""Satchel: one server for passing things on and keeping them."""

__version__ = "0.1.0"
