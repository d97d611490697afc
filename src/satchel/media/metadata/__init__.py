"""Reads what the bytes, the name and the sidecars of a photo or video say about it.

Everything starts at `media_read.read_media`. `containers` recognises the format by its first bytes and finds the
metadata in it. Each clue about the time goes to `capture_time`, which decides. The answer is one frozen value,
`media_facts.MediaFacts`.

It needs no library but msgspec and the standard one: the command line imports it before an upload. Bytes come from
strangers. So each reader is bounded, reads through `byte_window`, and answers with less where the bytes are broken.
"""
