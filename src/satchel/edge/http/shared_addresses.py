"""Where the system posts what another app shares, and where that leads to."""

SHARE_TARGET = "/share-target"
SHARED_PAGE = "/share"
# Below the address to which browsers tell the token that renews a session.
RENEWAL = "/api/v1/sessions/renewal"
MAX_FORM_BYTES = 1024 * 1024 * 1024
