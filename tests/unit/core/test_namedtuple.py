"""Records: the classes that ``collections.namedtuple`` makes, whose constructor is compiled when it is first called."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from weighbridge.accounts.inputs import Inputs
from weighbridge.core._namedtuple import NamedTuple


class Size(NamedTuple):
    """A size."""

    width: int
    height: int = 2
    depth: int = 3

    def area(self) -> int:
        """Return it."""
        return self.width * self.height


_make: Any = namedtuple
Standard = _make("Standard", ["width", "height", "depth"], defaults=[2, 3])  # what ours is compared with


def test_it_is_what_the_standard_one_is() -> None:
    ours, theirs = Size(1, depth=5), Standard(1, depth=5)
    assert ours == theirs == (1, 2, 5)
    assert hash(ours) == hash(theirs)
    assert repr(ours) == repr(theirs).replace("Standard", "Size")
    assert ours._asdict() == theirs._asdict()
    assert ours._replace(width=4) == theirs._replace(width=4)
    for name in ("_fields", "_field_defaults", "__match_args__", "__slots__"):
        assert getattr(Size, name) == getattr(Standard, name)
    assert inspect.signature(Size).replace(parameters=[]) == inspect.signature(Standard).replace(parameters=[])
    assert str(inspect.signature(Size)) == str(inspect.signature(Standard))
    assert Size.__doc__ == "A size."
    assert ours.area() == 2


def test_it_can_be_copied_and_matched() -> None:
    size = Size(7)
    assert copy.deepcopy(size) == size
    assert pickle.loads(pickle.dumps(size)) == size
    match size:
        case Size(width, height):
            assert (width, height) == (7, 2)


def test_what_is_wrong_is_refused() -> None:
    for given in ((), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match=r"Size\.__new__\(\)"):
            Size(*given)
    with pytest.raises(ValueError, match="colour"):
        Size(1)._replace(colour=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Expected 3"):
        Size._make([1])


def test_a_class_below_it_and_many_at_once() -> None:
    class Pair(NamedTuple):
        left: int
        right: int = 0

    class Named(Pair):
        pass

    with ThreadPoolExecutor(8) as pool:
        assert {type(made) for made in pool.map(Named, range(64))} == {Named}
    assert Pair(1) == (1, 0)
    assert type(Pair(1)) is Pair


def test_a_constructor_is_compiled_once() -> None:
    Inputs()
    assert "_new" in Inputs.__new__.__code__.co_names
