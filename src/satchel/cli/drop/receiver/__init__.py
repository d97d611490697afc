"""`satchel receive`: what is downloaded, and how it is stored."""
