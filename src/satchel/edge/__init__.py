"""HTTP that the slices share: typed endpoints, identity, problems, limits, headers, downloads, the server."""
