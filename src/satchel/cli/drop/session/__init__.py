"""The session that both sides are in: its members, its door, its events and its streams."""
