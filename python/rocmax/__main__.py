"""``python -m rocmax`` and the ``rocmax`` command."""

import sys

from rocmax._cli import main

if __name__ == "__main__":
    sys.exit(main())
