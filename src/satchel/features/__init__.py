"""What people do with Satchel, one slice each; no slice knows another."""
