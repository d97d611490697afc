"""Whoever opens, views, downloads or simply presses something leaves a click; people see, per day, per month and of all
time, how often that was and by how many different people, for everything and for each thing that they have shared.
"""
