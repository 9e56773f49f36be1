"""Lets ``python -m scalkit`` run the command."""

from scalkit.cli import main

raise SystemExit(main())
