"""The truth harness: holds every blueprint to the live classes of the reference library.

It is a tool of the repository and no part of the installed package. The reference is
transformers 5.23.0 on the meta device of torch 2.13.0; both are imported only where a live class
is built, so that the committed truth can be read and checked without them.

    python -m truth check bert          our blueprints against live classes, default and random configs
    python -m truth record bert         write tests/truth/bert.json
    python -m truth coverage            how many of all buildable classes agree
"""

from benchmarks.usage import print_usage

print_usage("truth")

TORCH = "2.13.0"
TRANSFORMERS = "5.23.0"
