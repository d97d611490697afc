"""Fields that many requests have, and what the description says of them.

Where a rule is looser in JSON Schema than here, a value that meets the schema can still be refused as one of
`satchel.kernel.unfit`.
"""

from typing import Annotated

import msgspec

EmailAddress = Annotated[str, msgspec.Meta(max_length=1000, extra_json_schema={"format": "email"})]
# As text, since clients may write more digits than a datetime has.
TimeWithZone = Annotated[str, msgspec.Meta(max_length=64, extra_json_schema={"format": "date-time"})]
