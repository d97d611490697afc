"""Lets `python -m satchel` be the `satchel` command, for machines where that is not on the path."""

import sys

from satchel.cli import main

sys.exit(main())
