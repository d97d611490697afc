"""A person keeps files in folders on a shelf of their own, each content stored once however many files show it; finds,
shows, renames and moves them, takes several away as one archive, lets them expire, and brings back what was deleted.
"""
