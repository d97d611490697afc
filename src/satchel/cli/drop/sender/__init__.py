"""`satchel send`: what is offered, and how it is sent."""
