"""People hand files over in a session that they reach by a link or a spoken code, without an account; what they say and
send is sealed before it comes here, and the bytes pass through without being kept.
"""
