"""The relay: passes the bytes of a stream from the sender's request to the receiver's, on one server or two."""
