"""``Callable`` and ``Mapping`` without the cost of the package ``collections``, which comes with ``collections.abc`` and takes a tenth of a count's time.

Python itself has the classes ready, since ``os`` needs them; type checkers see the standard ones.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable as Callable
    from collections.abc import Mapping as Mapping
else:
    from _collections_abc import Callable as Callable
    from _collections_abc import Mapping as Mapping
