"""Move files between this machine and a server: gather, upload, download, in parallel and resumable."""
