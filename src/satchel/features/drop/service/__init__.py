"""What people do in a drop session: open, join, knock, announce, ask, hand over, leave."""
