"""Check every numeric claim of an article, a model card or notes.

A text flows through six steps, and the files follow them.

1. Read (``text/``: ``reading`` with ``pages``, ``detex`` with ``typed_signs`` and ``pasted_math``): bytes become lines without their typesetting.
2. Segment (``text/``: ``tokens`` with ``numbers``, ``lengths``, ``statements``, ``expressions`` with ``values`` and ``polynomial_terms``, ``equations``,
   ``letters``, ``sizes``, ``phrases``, ``field_words``, ``settings``, ``plain_sizes``, ``described_sizes``, ``seen_sizes``, ``items``, ``tables`` with ``head_units``, ``sections``, ``rounding``): lines become numbers with units, equations, stated sizes and tables.
   Nothing here knows a model.
3. Bind subjects (``checks/``: ``names``, ``subjects``, ``main_model``, ``family_members``, together in ``context``, which makes a ``scene``): which
   model each place is about. What a single count or a table's row is about: ``count_subjects``, ``table_subjects`` with ``column_kinds``.
4. Parse and hold the claims (``checks/``, one module a kind): equations against themselves (``arithmetic`` with ``equation_readings``, ``results``,
   ``breakdowns``, ``column_sums``, ``row_relations``, ``matrices``, ``bytes_beside``, ``lettered_bytes``, ``bytes_of_counts``, ``comments``, ``list_sums``, ``inline_steps``, ``ratios``, ``section_shares``, ``summaries``, ``layer_summaries``), then against the model and the conventions people count by (``formulas`` with
   ``formula_pairs`` and ``identities``, ``written_products``, ``components`` with ``offers``, ``offer_claims`` and ``computed_totals``, ``configuration`` with ``size_doubts``, ``fields`` with ``field_values``, ``plain_fields``, ``changed_sizes``, ``paired_products``, ``passages`` with ``said_sizes`` and ``said_again``, and ``passage_counts``, ``modules`` with ``printed_widths`` and ``shaped_maps``, ``pictures``, ``tensors``, ``totals`` with ``plain_totals``, ``owned_counts``, ``chinese_owners``, ``closed_families`` and ``wrong_counts``, ``towers`` with ``tower_sizes``, ``model_tables`` with ``table_counts``, ``listed_sizes``, ``agreed_settings`` with ``said_settings`` and ``setting_verdicts``, ``listed_totals`` with ``listed_items`` and ``paired_lists`` with ``size_verdicts``, ``shares``, ``adapters`` with
   ``lora_configs``, ``cache_lengths``, ``memory`` with ``caches`` and ``cache_tables``, ``training_states`` and ``amounts``, ``bytes_said`` with ``dtypes``, ``nominal_bytes``, ``sentence_bytes``, ``work``, ``training_work``, ``comparisons``, ``changes``, ``mistyped``; ``model_cells``, ``component_counts`` and ``reference_counts`` know what each component
   holds, ``titles`` what it is called, ``own_counts`` what the whole model, and ``settle`` with ``cut_figures`` tries every reading before a count is wrong).
   ``elsewhere`` with ``counts_above`` leaves out what a sentence about something else says.
5. Confirm what is said again (``restated``), hold a part's count against what stands beside it (``stated_parts``), say what neighbouring lines explain (``nearby``), and tell what was seen and not judged (``tally``); ``covered`` knows what is judged already.
6. Word the verdict (``claims``): sentences that can be said in any language.

Their regular expressions are compiled when they are first used (``patterns``). Where a verdict turns is one table, ``thresholds``, with the case that each exists for.

An alarm is a proof: *wrong* is said only when a claim was read whole, its model is beyond doubt, and no reading is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from weighbridge.auditing.checks import (
    adapters,
    agreed_settings,
    arithmetic,
    breakdowns,
    bytes_beside,
    bytes_of_counts,
    bytes_said,
    cache_lengths,
    changed_sizes,
    changes,
    chinese_owners,
    closed_families,
    column_sums,
    comments,
    comparisons,
    components,
    configuration,
    dtypes,
    elsewhere,
    fields,
    formulas,
    identities,
    inline_steps,
    layer_summaries,
    lettered_bytes,
    list_sums,
    listed_sizes,
    listed_totals,
    matrices,
    memory,
    mistyped,
    model_tables,
    modules,
    nearby,
    nominal_bytes,
    offers,
    owned_counts,
    paired_lists,
    paired_products,
    passage_counts,
    passages,
    pictures,
    plain_fields,
    printed_widths,
    ratios,
    restated,
    results,
    row_relations,
    section_shares,
    sentence_bytes,
    shaped_maps,
    shares,
    stated_parts,
    subjects,
    summaries,
    table_subjects,
    tally,
    tensors,
    totals,
    tower_sizes,
    towers,
    training_work,
    work,
    written_products,
)
from weighbridge.auditing.checks.context import understand
from weighbridge.auditing.checks.corrected_total import corrected_total
from weighbridge.auditing.checks.reference_counts import ReferenceCounts, ReferenceTable
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Audit, Claim, Line, OmittedCount
from weighbridge.auditing.text.reading import read_lines
from weighbridge.auditing.text.tokens import forget

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def audit(data: bytes | str, *, name: str = "", model: ModelValue | None = None) -> Audit:
    """Check every numeric claim of a text.

    Args:
        data: The text, or the bytes of its file.
        name: The file's name; its ending may say what it is.
        model: The model it is about; without one, the text's names and sizes tell, or it is checked against itself alone.

    Raises:
        ReadError: It is no text.

    >>> [claim.verdict for claim in audit("30522 × 768 = 23,449,856").claims]
    ['wrong']
    """
    try:
        return _audit(read_lines(data.encode() if isinstance(data, str) else data, name), model)
    finally:
        forget()


def _audit(lines: tuple[Line, ...], model: ModelValue | None) -> Audit:
    scene = understand(lines, model)
    held = ReferenceTable(scene.models)
    checked = arithmetic.check(scene)
    offered = list(offers.offers(scene))
    bound = table_subjects.bind(scene)
    claims = _judge(scene, held, checked, offered, bound)
    total, left = corrected_total(scene, checked, held, offered)
    claims += _claims_elsewhere(row_relations.check(scene, claims), claims)
    claims += restated.check(scene, claims, held)
    claims += list(stated_parts.check(scene, held, claims))
    claims += tally.unsettled_claims(scene, claims, bound)
    why, main = (scene.main.why, held.get("")) if scene.main else ((), None)
    reference = main.reference if main is not None and _is_firm(scene) else None
    return Audit(_in_order(claims), _name(scene, held), why, total, reference, left, lines, subjects.subjects_of(lines, scene.mentions))


def _judge(
    scene: Scene,
    held: Mapping[str, ReferenceCounts],
    checked: arithmetic.EquationClaims,
    offered: Sequence[offers.Offer],
    bound: Sequence[table_subjects.ModelTable],
) -> list[Claim]:
    """Hold every kind of claim against what it can be held against; what one check has judged, the later ones leave."""
    firm = _is_firm(scene)
    tabled = frozenset(line for one in bound for line in one.table.lines)
    lettered = list(formulas.check(scene, held))
    known = _places(claim for claim in lettered if claim.verdict == "wrong")
    claims = [claim for claim in checked.claims if claim.verdict != "wrong" or (claim.line, claim.end) not in known]
    numbers = {scene.lines[index].number for index in tabled}
    claims += lettered + list(tensors.check(scene))
    claims += [c for c in configuration.check(scene, firm=firm) if c.line not in numbers]
    explained = list(nearby.check(scene))
    follows = _places(claim for claim in explained if _has_unit(claim))
    components_held = components.check(scene, checked, held, offered, firm=firm, tabled=tabled)
    claims += [c for c in components_held if c.verdict != "wrong" or (c.line, c.end) not in follows]
    claims += model_tables.check(scene, bound)
    claims += shares.check(scene, held, offered, firm=firm)
    wrong = _places(claim for claim in claims if claim.verdict == "wrong")
    sectioned = list(section_shares.check(scene))
    claims += [c for c in sectioned if c.verdict == "wrong" and (c.line, c.end) not in wrong]
    claims += _later_claims(scene, held, checked, tabled, claims, (sectioned, explained))
    claims += _claims_elsewhere(written_products.check(scene, held, offered, firm=firm), claims)
    return _drop_inner_sizes(list(elsewhere.leave_out(scene, claims, numbers)))


def _later_claims(
    scene: Scene,
    held: Mapping[str, ReferenceCounts],
    checked: arithmetic.EquationClaims,
    tabled: Collection[int],
    before: Sequence[Claim],
    found: tuple[Sequence[Claim], Sequence[Claim]],
) -> list[Claim]:
    """Return the claims of the checks that leave what is judged already, each in its turn."""
    (sectioned, explained), claims, taken = found, list(before), _places(before)
    for later in (
        towers.check(scene),
        tower_sizes.check(scene),
        changes.check(scene, held),
        adapters.check(scene),
        ratios.check(scene),
        breakdowns.check(scene, held),
        column_sums.check(scene),
        matrices.check(scene),
        comments.check(scene),
        sectioned,
        summaries.check(scene),
        layer_summaries.check(scene, held),
        dtypes.check(scene),
        paired_lists.check(scene, tabled),
        listed_sizes.check(scene, tabled),
        listed_totals.check(scene, tabled),
        totals.check(scene, tabled),
        owned_counts.check(scene, tabled),
        chinese_owners.check(scene, tabled),
        closed_families.check(scene, tabled),
        list_sums.check(scene),
        *(kind.check(scene) for kind in (lettered_bytes, bytes_beside, bytes_of_counts, cache_lengths, nominal_bytes, sentence_bytes)),
        memory.check(scene),
        work.check(scene),
        training_work.check(scene),
        comparisons.check(scene),
        results.check(scene),
        modules.check(scene),
        printed_widths.check(scene),
        inline_steps.check(scene),
        explained,
        bytes_said.check(scene),
        plain_fields.check(scene, tabled),
        fields.check(scene, tabled),
        paired_products.check(scene),
        agreed_settings.check(scene, tabled),
        changed_sizes.check(scene, tabled),
        shaped_maps.check(scene),
        pictures.check(scene),
        passages.check(scene, tabled, claims),
        passage_counts.check(scene, tabled, claims),
        identities.check(scene),
        mistyped.check(scene, held, claims, checked.slips),
    ):
        fresh = [claim for claim in later if (claim.line, claim.end) not in taken]
        taken |= _places(fresh)
        claims += fresh
    return claims[len(before) :]


_MOST_OF_LINE = 100
"""Claims of a line that are compared with each other; a line with more is no sentence."""


def _drop_inner_sizes(claims: Sequence[Claim]) -> list[Claim]:
    """Leave out a size whose number stands within another claim of the same verdict: it is said once."""
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for one in claims:
        spans.setdefault(one.line, []).append((one.start, one.end, one.verdict))

    def is_inside(one: Claim) -> bool:
        if len(spans[one.line]) > _MOST_OF_LINE:
            return False
        return any(
            (start, end) != (one.start, one.end) and start <= one.start and one.end <= end and (one.verdict in ("exact", verdict))
            for start, end, verdict in spans[one.line]
        )

    return [one for one in claims if one.kind != "configuration" or one.verdict not in ("exact", "wrong") or not is_inside(one)]


def _claims_elsewhere(later: Iterable[Claim], claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims about places that none of the others is about."""
    taken = _places(claims)
    return list({(claim.line, claim.end): claim for claim in later if (claim.line, claim.end) not in taken}.values())


def _places(claims: Iterable[Claim]) -> set[tuple[int, int]]:
    return {(claim.line, claim.end) for claim in claims}


def _has_unit(claim: Claim) -> bool:
    """Tell whether a figure is rounded: what follows from rounded figures above it is off as they are, and not wrong for it."""
    return claim.text[-1:].isalpha()


def _is_firm(scene: Scene) -> bool:
    return scene.main is not None and scene.main.firm


def _name(scene: Scene, held: Mapping[str, ReferenceCounts]) -> str:
    return f"{held[''].class_name}, {scene.main.name}" if scene.main is not None and "" in held else ""


def _in_order(claims: list[Claim]) -> tuple[Claim, ...]:
    """Return claims in the order of the text, each once."""
    return tuple(dict.fromkeys(sorted(claims, key=lambda claim: (claim.line, claim.end, claim.start))))


__all__ = ["Audit", "Claim", "Line", "OmittedCount", "audit"]
