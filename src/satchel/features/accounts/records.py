"""What is stored of people: users, identities, scopes, sessions, the tokens they are given, the server's state."""

from typing import Literal

from satchel.features.accounts.model import Email, Purpose, Receiving, SessionId, SignUpMode, UserId
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import CATALOG, USER_TRANSFERS

OWNER = "accounts"
REFRESH_SORT = "#REFRESH_SPEC"
INVITE_SORT = "#INVITE_SPEC"
RESET_SORT = "#RESET_SPEC"
DEPARTURE_SORT = "#DEPARTURE_SPEC"


class UserRow(Record, frozen=True, kw_only=True):
    """A person with an account. `password` is an argon2id hash. A suspended person cannot sign in."""

    user_id: UserId = attribute("userId")
    email: Email
    password: str
    name: str = attribute("userName")
    created_at: str = attribute("createdAt")
    suspended_at: str = attribute("suspendedAt", default="")
    # Not in the list of people: that is one partition, which everybody's signing in would write.
    last_used_at: str = attribute("lastUsedAt", default="")
    receiving: Receiving = "anybody"


class PersonRow(Record, frozen=True, kw_only=True):
    """Lists all people. It has no e-mail address, because ByEmail would find it, too.

    `lastUsedAt` is of earlier versions, where signing in wrote it here; the row of the person has it now.
    """

    user_id: UserId = attribute("userId")
    last_used_at: str = attribute("lastUsedAt", default="")


class IdentityRow(Record, frozen=True, kw_only=True):
    """The owner of an e-mail address. The address is taken if this row exists."""

    email: Email = attribute("Email")
    user_id: UserId = attribute("UserId")
    name: str = attribute("Name")
    picture: str = attribute("Picture", default="")


class ScopeRow(Record, frozen=True, kw_only=True):
    """Something a person may do: administer (`api`), own (`owner:main`), or use what another person owns."""

    granted_to: Email = attribute("GrantedTo")
    type: str = attribute("Type")
    resource_owner: str = attribute("ResourceOwner")
    resource_id: str = attribute("ResourceId", default="")
    resource_name: str = attribute("ResourceName", default="")
    granted_at: str = attribute("GrantedAt")


class SessionRow(Record, frozen=True, kw_only=True):
    """One signed-in device. `generation` counts how often its refresh token was rotated."""

    session_id: SessionId = attribute("SessionId")
    email: Email = attribute("Email")
    user_id: UserId = attribute("UserId")
    purpose: Purpose = attribute("RefreshTokenPurpose")
    device: str = attribute("Device")
    created_at: str = attribute("CreatedAt")
    last_used_at: str = attribute("LastUsedAt")
    expires_at: str = attribute("ExpiresAt")
    generation: int = attribute("Generation")


class RefreshRow(Record, frozen=True, kw_only=True):
    """The refresh token that a session can use now. The key has its hash; the token itself is not stored."""

    token_hash: str = attribute("TokenHash")
    email: Email = attribute("Email")
    session_id: SessionId = attribute("SessionId")
    purpose: Purpose = attribute("RefreshTokenPurpose")
    absolute_expiry: str = attribute("AbsoluteExpiryTime")


class InvitationRow(Record, frozen=True, kw_only=True):
    """An invitation to sign up once, for anybody or for one address."""

    token_hash: str = attribute("TokenHash")
    email: str = attribute("Email", default="")
    note: str = attribute("Note", default="")
    invited_by: UserId = attribute("InvitedBy")
    administrator: bool = attribute("Administrator", default=False)
    created_at: str = attribute("CreatedAt")
    absolute_expiry: str = attribute("AbsoluteExpiryTime")


class ResetRow(Record, frozen=True, kw_only=True):
    """A password reset that works once, while the password with the hash `replaces` is still in use."""

    token_hash: str = attribute("TokenHash")
    user_id: UserId = attribute("UserId")
    replaces: str = attribute("Replaces")
    given_by: UserId = attribute("GivenBy")
    absolute_expiry: str = attribute("AbsoluteExpiryTime")


class BlockRow(Record, frozen=True, kw_only=True):
    """Somebody whom a person has blocked."""

    user_id: UserId = attribute("userId")
    blocked_id: UserId = attribute("blockedId")
    blocked_at: str = attribute("blockedAt")


class ContactRow(Record, frozen=True, kw_only=True):
    """How a person stands to another: they know them, or want to be asked by them after a decline."""

    user_id: UserId = attribute("userId")
    other_id: UserId = attribute("otherId")
    standing: Literal["known", "asks"]


class DepartureRow(Record, frozen=True, kw_only=True):
    """A person whose account is being deleted. At `due` another server may go on. No address: that is free again."""

    user_id: UserId = attribute("UserId")
    email: str = attribute("Email", default="")
    due: str = attribute("AbsoluteExpiryTime")


class ServerRow(Record, frozen=True, kw_only=True):
    """The server's own state, since its first person. `administrators` are those who are not suspended."""

    first_user: UserId = attribute("firstUser")
    # In one row, so that they can never all be removed at once. A set of the table: updates write it, a put would not.
    administrators: frozenset[UserId] = frozenset()
    sign_up: SignUpMode | None = attribute("signUp", default=None)


USER = Shape(
    UserRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "User#{user_id}"},
    owner=OWNER,
    about="A person with an account; found by e-mail through ByEmail",
)
PERSON = Shape(
    PersonRow,
    USER_TRANSFERS,
    {"PK": "People#", "SK": "Person#{user_id}"},
    owner=OWNER,
    about="One row per person, in the order in which they signed up",
)
IDENTITY = Shape(
    IdentityRow,
    CATALOG,
    {"PK": "USER#{email}", "SK": "IDENTITY#"},
    owner=OWNER,
    about="Who an e-mail address belongs to; makes addresses unique",
)
SCOPE = Shape(
    ScopeRow,
    CATALOG,
    {"PK": "USER#{granted_to}", "SK": "SCOPE#{type}#{resource_owner}#{resource_id}"},
    owner=OWNER,
    about="What a person may do; all grants of an owner through ReverseGrantIndex",
)
SESSION = Shape(
    SessionRow,
    CATALOG,
    {"PK": "USER#{email}", "SK": "SESSION#{session_id}"},
    owner=OWNER,
    about="A signed-in device of a person",
)
REFRESH = Shape(
    RefreshRow,
    CATALOG,
    {"PK": "REFRESH#{token_hash}", "SK": REFRESH_SORT},
    owner=OWNER,
    about="The refresh token a session can use now; expired ones through RefreshTokenExpiration",
)
INVITATION = Shape(
    InvitationRow,
    CATALOG,
    {"PK": "INVITE#{token_hash}", "SK": INVITE_SORT},
    owner=OWNER,
    about="An invitation to sign up once; all of them, by expiry, through RefreshTokenExpiration",
)
RESET = Shape(
    ResetRow,
    CATALOG,
    {"PK": "RESET#{token_hash}", "SK": RESET_SORT},
    owner=OWNER,
    about="A password reset that works once; expired ones through RefreshTokenExpiration",
)
BLOCK = Shape(
    BlockRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Blocked#{blocked_id}"},
    owner=OWNER,
    about="Whom a person has blocked",
)
CONTACT = Shape(
    ContactRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Contact#{other_id}"},
    owner=OWNER,
    about="Whom a person knows by what they sent or accepted, and who has to ask them",
)
DEPARTURE = Shape(
    DepartureRow,
    CATALOG,
    {"PK": "DEPARTURE#{user_id}", "SK": DEPARTURE_SORT},
    owner=OWNER,
    about="Journal: an account that is being deleted; interrupted ones through RefreshTokenExpiration",
)
SERVER = Shape(
    ServerRow,
    USER_TRANSFERS,
    {"PK": "Server#", "SK": "Server#"},
    owner=OWNER,
    about="The server's own state: its first person, and who may sign up",
)
SHAPES = (USER, PERSON, IDENTITY, SCOPE, SESSION, REFRESH, INVITATION, RESET, BLOCK, CONTACT, DEPARTURE, SERVER)
