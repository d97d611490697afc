"""TLS without a proxy: a local authority and its certificates, certificates that were given, and the page of trust."""
