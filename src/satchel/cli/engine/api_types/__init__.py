"""What a server answers, typed from the OpenAPI document by `tools/cli_types.py`; the events that it tells, by hand.

A type has the fields that the command reads or prints with `--json`. Unknown fields are ignored, so a newer server can
say more. A field that can be null may be missing, as it is in the answers of a server that is older than the field.
There is a module per group of verbs, so that a short command loads only the types that it uses.
"""
