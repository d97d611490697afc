"""The typed API: endpoints declared by a handler's signature, identity, OpenAPI and its reference page."""
