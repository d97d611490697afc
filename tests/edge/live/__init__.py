"""Live connections, over a real server."""
