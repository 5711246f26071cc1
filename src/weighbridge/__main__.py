"""``python -m weighbridge`` is the command ``weigh``."""

from weighbridge.cli import entry

if __name__ == "__main__":
    entry()
