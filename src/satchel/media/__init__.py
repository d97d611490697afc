"""Pictures, metadata and pages of stored files, made and read in processes that can be killed.

A *picture* is derived from one stored object, its *source*, and named by the key of that object. `pictures.py` is what
slices use. `picture_maker.py` works through the queue. `metadata_reader.py` reads what a camera wrote.
`score_pages.py` makes pages of sheet music. All hand files to `process.py`, the child that decodes. Only `decoders/`
knows the libraries, and only the child imports it.
"""
