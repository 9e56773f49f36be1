"""Lets ``python -m scalkit.cli`` run the command."""

import sys

from scalkit.cli import main

sys.exit(main())
