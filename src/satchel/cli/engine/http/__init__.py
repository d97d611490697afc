"""Talk to a server: one client, its credentials, typed answers, live events, and retries with backoff."""
