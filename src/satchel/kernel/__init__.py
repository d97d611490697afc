"""What everything stands on: errors, identifiers, time and events, from the standard library alone."""
