"""`python -m opkit`: the command line without its script on PATH."""

from __future__ import annotations

import sys

from opkit.cli import main

sys.exit(main())
