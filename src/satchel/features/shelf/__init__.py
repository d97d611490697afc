"""The shelf: a person's own files, each under the name it came with; the same bytes are kept once however often they
come. People upload, list, download, rename and delete, and see how much room they use.
"""
