"""How the bytes of a stream get from the owner's request to the receiver's, on one server or between two."""
