"""What every verb uses: HTTP client, retries, uploads and downloads, terminal output, resources of the server."""
