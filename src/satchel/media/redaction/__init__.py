"""Finds what an original says about where and with which camera it was taken, so that others get it without.

Nothing is decoded or written anew: the answer is a list of patches, which blank those bytes and leave all others. What
cannot be followed to its end is `Unclear`, and goes to nobody but its owner.
"""
