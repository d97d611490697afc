"""A person's photos and videos, in albums that fill themselves by date."""
