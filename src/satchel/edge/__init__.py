"""What the slices share at the network's edge, in rooms: `http`, `api`, `files` (out), `uploads` (in) and `live`."""
