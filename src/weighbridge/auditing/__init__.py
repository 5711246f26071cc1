"""Check every numeric claim of an article, a model card or notes.

A text flows through six steps, and the files follow them.

1. Read (``text/``: ``reading`` with ``pages``, ``detex`` with ``markup``, ``typed_signs`` and ``pasted_math`` with ``drawn_math``): bytes become lines without their typesetting.
2. Segment (``text/``: ``tokens`` with ``memory``, ``numbers`` and ``chinese_tokens``, ``figures``, ``lengths``, ``statements``, ``expressions`` with ``values``, ``letter_formulas`` and ``polynomial_terms``, ``equations`` with ``whole_sides``,
   ``letters``, ``sizes``, ``phrases``, ``field_words``, ``owners``, ``settings``, ``plain_sizes``, ``described_sizes``, ``own_sizes``, ``transformer_paper`` with ``paper_sizes``, ``seen_sizes``, ``chinese_clauses`` with ``clause_words`` and ``base_models``, ``byte_clauses``, ``powered_products``, ``quantity_words`` with ``quantity_clauses`` with ``quantity_pieces``, ``quantities`` and ``quantity_bounds``, ``part_clauses``, ``items``, ``tables`` with ``table_rows``, ``ruled_tables``, ``head_units`` and ``cell_numbers``, ``sections``, ``rounding``): lines become numbers with units, equations, stated sizes and tables.
   Nothing here knows a model.
3. Bind subjects (``checks/``: ``names`` with ``name_starts`` and ``likenesses``, ``subjects`` with ``member_sizes`` and ``borrowed_models``, ``text_subject`` with ``main_model``, ``family_members``, together in ``context``, which makes a ``scene`` with ``on_demand``): which
   model each place is about. What a single count or a table's row is about: ``count_subjects`` with ``naming_words``, ``table_subjects`` with ``table_families``, ``cell_models`` and ``column_kinds``.
4. Parse and hold the claims (``checks/``, one module a kind): equations against themselves (``arithmetic``
   with ``equation_verdicts``, ``equation_readings``, ``equation_doubts`` and ``quoted_equations``, ``results``, ``breakdowns``,
   ``row_products``, ``proportional_columns`` and ``proportional_lines``, ``ratio_columns``, ``column_sums``, ``headed_formulas``, ``row_relations`` with
   ``row_bytes``, ``matrices``, ``bytes_beside``, ``lettered_bytes``, ``stated_bytes``, ``bytes_of_counts``,
   ``comments``, ``made_modules``, ``bracketed_products``, ``explained_counts``, ``image_patches`` with ``image_grids``, ``list_sums``,
   ``restated_units``, ``restated_sizes``, ``spelled_counts``, ``number_shares``, ``run_times``, ``inline_steps``, ``ratios``, ``section_shares``, ``summaries``, ``layer_summaries``),
   then against the model and the conventions people count by (``formulas`` with ``norm_formulas``, ``formula_pairs``,
   ``generic_formulas`` and ``identities``, ``written_products``, ``components`` with ``offers`` and
   ``worded_components``, ``offer_claims`` and ``computed_totals``, ``configuration`` with ``size_doubts``,
   ``fields`` with ``stated_fields`` and ``field_values``, ``plain_fields``, ``compared_models``,
   ``owned_sizes``, ``opened_sentences``, ``changed_sizes``, ``paired_products``, ``sizes_for_names``, ``member_groups``, ``passages`` with
   ``said_sizes`` and ``said_again``, ``agreed_sentences`` and ``agreed_counts`` with ``sentence_subjects`` (and ``brought_in``), ``sister_models``, ``background``, ``free_sizes``
   with ``introduced_lists`` and ``sentence_doubts``, and ``passage_counts``, ``printed_counts``, ``modules`` with ``printed_widths``
   and ``shaped_maps``, ``spoken_shapes``, ``pictures``, ``tensors``, ``totals`` with ``count_doubts`` and ``plain_totals``,
   ``owned_counts``, ``described_counts``, ``apposed_counts``, ``chinese_owners``, ``chinese_sentences`` with ``clause_values``,
   ``chinese_parts``, ``closed_families``, ``family_lists``, ``family_cells``, ``family_ranges``, ``family_sentences`` and ``wrong_counts``,
   ``original_transformer`` with ``paper_lines``, ``paper_counts`` and ``paper_tables``, ``head_widths``, ``own_parts`` with
   ``own_models``, ``own_readings`` and ``labelled_counts``, ``own_tables``, ``own_caches``, ``towers`` with ``tower_sizes``,
   ``model_tables`` with ``size_grids``, ``table_counts``, ``work_columns`` and ``card_lines``, ``listed_sizes``,
   ``agreed_settings`` with ``said_settings`` and ``setting_verdicts``, ``answered_questions``,
   ``listed_totals`` with ``listed_items`` and ``paired_lists`` with ``size_verdicts``, ``shares``,
   ``adapters`` with ``lora_configs``, ``printed_adapters`` and ``adapter_passages``, ``cache_lengths``, ``cache_columns``, ``model_caches``, ``cache_ratios``, ``memory`` with
   ``memory_subjects``, ``caches`` and ``cache_tables``, ``weight_bytes``, ``training_states`` and
   ``amounts``, ``bytes_said`` with ``dtypes``, ``dtypes_beside`` and ``dtype_tables``, ``nominal_bytes``, ``nominal_grids``,
   ``sentence_bytes``, ``chinese_bytes``, ``memory_budgets`` with ``memory_figures``, ``memory_labels`` and ``memory_products``, ``token_bytes`` with ``cache_figures`` and ``token_rates``, ``passage_quantities`` with ``quantity_amounts``,
   ``quantity_caches`` and ``quantity_subjects``, ``weight_groups`` with ``weights_said`` and
   ``weight_tables``, ``work``, ``training_work``, ``comparisons``, ``changes``, ``mistyped``;
   ``model_cells``, ``component_counts`` and ``reference_counts`` know what each component holds, ``titles``
   what it is called, ``own_counts`` what the whole model, and ``settle`` with ``rounded_conventions`` and
   ``cut_figures`` tries every reading before a count is wrong). ``elsewhere`` with ``counts_above``, ``denied_figures`` and
   ``other_sources`` leaves out what a sentence about something else says, and ``solved_equations`` leaves
   open what is to be solved; ``unnamed_models`` leaves out, whichever check made it, what is said of a model
   that a sentence only supposes or brings up without a name (``other_models``).
5. Find counts and sizes one digit off the model's own (``slipped_counts`` with ``nominal_sizes``, ``slipped_sizes``, ``odd_sizes``, ``settled_sizes``), confirm what is said again (``restated``), hold a part's count against what stands beside it (``stated_parts``) and a breakdown against its total (``open_sums``), counts against the shapes beside them (``product_slips``), shares against the counts beside them (``agreed_shares``), say what neighbouring lines explain (``nearby``), and tell what was seen and not judged (``tally``); ``covered`` knows what is judged already.
6. Word the verdict (``claims``): sentences that can be said in any language.

``every_check`` runs the checks of steps 4 and 5 in their order (``ordered_checks`` lists those of one kind), and ``claim_places`` keeps one of two claims about one place. Their regular expressions are compiled when they are first used (``patterns``), and one that is asked often looks
first for what must stand in a text for it to match (``needed_literals``). Where a verdict turns is in three lists, ``thresholds`` and, of bytes
and of tables, ``byte_thresholds`` and ``table_thresholds``, with the case that each exists for.

A check is offered what it can judge, and not the whole text. It walks what one pass has told apart and the ``scene`` keeps: numbers of a kind (``sorted_figures``: counts, shares, bytes, work),
statements that hold a number (``numbered``), lines that have a digit (``counted_lines``), equations (``chains``), tables; of these it first asks what costs least: a sign in the line, then a pattern, then a
model. What several checks read of one text is read once (``memory``): by ``once_for_each_text``, or, where only the places of words and numbers matter and no digit does, by
``once_for_each_shape``, for all lines that differ in their digits alone.

An alarm is a proof: *wrong* is said only when a claim was read whole, its model is beyond doubt, and no reading is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from weighbridge.auditing.checks import (
    agreed_counts,
    agreed_sentences,
    agreed_shares,
    arithmetic,
    elsewhere,
    family_sentences,
    head_widths,
    memory_budgets,
    odd_sizes,
    offers,
    open_sums,
    original_transformer,
    own_caches,
    own_parts,
    own_tables,
    paper_lines,
    paper_tables,
    product_slips,
    restated,
    row_relations,
    settled_sizes,
    slipped_counts,
    slipped_sizes,
    stated_parts,
    subjects,
    table_subjects,
    tally,
    token_bytes,
    unnamed_models,
)
from weighbridge.auditing.checks.claim_places import claims_beside, claims_elsewhere, ends_of, put_before_rounded
from weighbridge.auditing.checks.context import understand
from weighbridge.auditing.checks.corrected_total import corrected_total
from weighbridge.auditing.checks.reference_counts import ReferenceCounts, ReferenceTable
from weighbridge.auditing.checks.row_bytes import is_loose
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Audit, Claim, Line, OmittedCount
from weighbridge.auditing.every_check import judge
from weighbridge.auditing.text.memory import forget
from weighbridge.auditing.text.reading import read_lines
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.collector import CollectorPaused

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
    with CollectorPaused():
        try:
            return _audit(read_lines(data.encode() if isinstance(data, str) else data, name), model)
        finally:
            forget()


def _audit(lines: tuple[Line, ...], model: ModelValue | None) -> Audit:
    scene = understand(lines, model)
    held = ReferenceTable(scene.models)
    checked = arithmetic.check(scene)
    offered = list(offers.offers(scene)) if scene.has_models else []  # what a text offers is held against a model, or not at all
    bound = table_subjects.bind(scene)
    claims = judge(scene, held, checked, offered, bound, firm=_is_firm(scene))
    total, left = corrected_total(scene, checked, held, offered)
    related = list(row_relations.check(scene, claims))
    refuted = ends_of(one for one in related if one.verdict == "wrong")
    claims = [one for one in claims if (one.line, one.end) not in refuted or not is_loose(one)]
    claims += claims_elsewhere(related, claims)
    tabled = frozenset(line for one in bound for line in one.table.lines)
    if scene.has_models:
        claims += claims_beside(elsewhere.leave_out_of_parts(scene, agreed_sentences.check(scene, tabled, claims)), claims)
        claims += claims_beside(agreed_counts.check(scene, tabled, claims), claims)
        claims += claims_beside(elsewhere.leave_out_of_parts(scene, family_sentences.check(scene, tabled, claims)), claims)
        claims += slipped_counts.check(scene, tabled, claims)
        claims += slipped_sizes.check(scene, tabled, claims)
        claims += odd_sizes.check(scene, tabled, claims)
        claims += settled_sizes.check(scene, tabled, claims)
    claims = put_before_rounded(claims, memory_budgets.check(scene))
    claims = put_before_rounded(claims, token_bytes.check(scene))
    claims = unnamed_models.leave_out(scene, claims, {scene.lines[index].number for index in tabled})
    claims = elsewhere.leave_out_denied(scene, claims)
    claims = paper_lines.put_first(scene, claims, [*original_transformer.check(scene, tabled), *paper_tables.check(scene)])
    claims += claims_beside(head_widths.check(scene), claims)
    claims += claims_beside(own_tables.check(scene), claims)
    claims += claims_beside(own_parts.check(scene, claims), claims)
    claims += claims_beside(own_caches.check(scene), claims)
    claims += restated.check(scene, claims, held)
    claims += list(stated_parts.check(scene, held, claims)) if scene.has_models else []
    claims += claims_beside(open_sums.check(scene, claims), claims)
    claims = put_before_rounded(claims, product_slips.check(scene, claims))
    claims = put_before_rounded(claims, agreed_shares.check(scene, claims))
    claims += tally.unsettled_claims(scene, claims, bound)
    why, main = (scene.main.why, held.get("")) if scene.main else ((), None)
    reference = main.reference if main is not None and _is_firm(scene) else None
    return Audit(_in_order(claims), _name(scene, held), why, total, reference, left, lines, subjects.subjects_of(lines, scene.mentions))


def _is_firm(scene: Scene) -> bool:
    return scene.main is not None and scene.main.firm


def _name(scene: Scene, held: Mapping[str, ReferenceCounts]) -> str:
    return f"{held[''].class_name}, {scene.main.name}" if scene.main is not None and "" in held else ""


def _in_order(claims: list[Claim]) -> tuple[Claim, ...]:
    """Return claims in the order of the text, each once."""
    return tuple(dict.fromkeys(sorted(claims, key=attrgetter("line", "end", "start"))))


__all__ = ["Audit", "Claim", "Line", "OmittedCount", "audit"]
