"""Names of the ASGI extensions that our server offers in a request's scope, and takes as messages of its answer."""

# A part of a file, sent by the kernel: https://asgi.readthedocs.io/en/latest/extensions.html#zero-copy-send
ZERO_COPY = "http.response.zerocopysend"

# A whole answer in one message: `status`, `body`, and `header_lines`, which are complete lines (`name: value\r\n`) of
# headers. The server adds the content's length. Small answers are so frequent that a second message would be felt.
WHOLE = "satchel.response.whole"

# The body of another request of this server as the next part of an answer that has begun. `receive` is that of the
# other request. The server writes into the message, as `count`, how many bytes there were.
SPLICE = "satchel.response.splice"

# In a scope: the application keeps all of the body that it is given until it answers.
KEEPS_BODY = "satchel.request.keeps_body"

# The end of an answer whose reader has to notice that it is not whole.
BREAK_OFF = "satchel.response.break_off"
