"""Satchel: one server for passing things on and keeping them."""
