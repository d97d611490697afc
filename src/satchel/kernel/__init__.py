"""The base of every other package: errors, identifiers, time and events. It uses the standard library alone."""
