"""HTTP/1.1 itself: the server, its protocol on the socket, the middleware around every request, problems as answers."""
