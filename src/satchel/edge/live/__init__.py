"""One websocket per browser tab, on which people are told what happens; the protocol is in docs/protocols/live.md."""
