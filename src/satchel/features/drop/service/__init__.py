"""The use cases of a drop session: open, join, knock, announce, request, send, leave."""
