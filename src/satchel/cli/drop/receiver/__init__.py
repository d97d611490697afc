"""`satchel receive`: what is taken, and how it lands."""
