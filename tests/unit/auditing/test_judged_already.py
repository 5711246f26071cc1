"""What a check has judged the later ones leave, and a text's long lines and many names take time in proportion to their number."""

from __future__ import annotations

from weighbridge.auditing import audit
from weighbridge.auditing.checks.context import understand
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.reading import read_lines


def _scene(text: str, *judged: tuple[int, int]) -> Scene:
    return understand(read_lines(text.encode()))._replace(judged=frozenset(judged))


def test_a_number_is_judged_where_a_claim_ends_with_it() -> None:
    scene = _scene("BERT-base has 12 layers and 110M parameters.", (1, 16))
    assert scene.is_judged(0, 14, 16)
    assert not scene.is_judged(0, 28, 32)
    assert not scene.is_line_judged(0)


def test_a_line_is_judged_when_all_its_numbers_are_but_those_of_names() -> None:
    scene = _scene("Llama 2 7B has 32 layers and 6.7B parameters.", (1, 17), (1, 33))
    assert scene.is_line_judged(0)
    assert not scene._replace(judged=frozenset()).is_line_judged(0)


def test_what_is_asked_of_a_text_is_found_once_for_it_and_again_for_another() -> None:
    asked: list[int] = []

    @once_for_each_scene
    def lines(scene: Scene) -> int:
        asked.append(len(scene.lines))
        return len(scene.lines)

    one, other = _scene("one line"), _scene("two\nlines")
    assert [lines(one), lines(one), lines(other), lines(one)] == [1, 1, 2, 1]
    assert asked == [1, 2]


def test_a_line_of_many_counts_is_read_and_each_is_judged() -> None:
    text = ", ".join("GPT-2 XL has 1.5B parameters" for _ in range(150))
    assert sum(claim.verdict != "unsettled" for claim in audit(text).claims) == 150
