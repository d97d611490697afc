"""Pictures of stored files: small ones for lists, larger ones to look at, made in processes that can be killed.

A *picture* is derived from one stored object, its *source*, and named by the key of that object. `pictures.py` is what
slices use. `picture_maker.py` works through the queue, and `process.py` is the child that decodes. Only `decoders/`
knows the libraries, and only the child imports it.
"""
