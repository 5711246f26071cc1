"""Every check of a text, in its order: what one has judged, the later ones leave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import ModuleType

from weighbridge.auditing.checks import (
    adapters,
    agreed_settings,
    answered_questions,
    arithmetic,
    bracketed_products,
    breakdowns,
    bytes_said,
    changed_sizes,
    changes,
    chinese_bytes,
    chinese_parts,
    chinese_sentences,
    column_sums,
    comments,
    compared_models,
    comparisons,
    components,
    configuration,
    dtype_tables,
    dtypes,
    elsewhere,
    family_cells,
    family_lists,
    family_ranges,
    fields,
    formulas,
    generic_formulas,
    headed_formulas,
    identities,
    image_patches,
    inline_steps,
    layer_summaries,
    list_sums,
    made_modules,
    matrices,
    member_groups,
    memory,
    mistyped,
    model_caches,
    model_tables,
    modules,
    nearby,
    offers,
    opened_sentences,
    owned_sizes,
    paired_products,
    passage_counts,
    passage_quantities,
    passages,
    pictures,
    plain_fields,
    printed_counts,
    printed_widths,
    proportional_columns,
    ratios,
    results,
    row_products,
    section_shares,
    shaped_maps,
    shares,
    sizes_for_names,
    solved_equations,
    spoken_shapes,
    summaries,
    table_subjects,
    tensors,
    tower_sizes,
    towers,
    training_work,
    work,
    work_columns,
    written_products,
)
from weighbridge.auditing.checks.claim_places import (
    by_line,
    claims_elsewhere,
    drop_inner_sizes,
    ends_of,
    has_unit,
    of_another_verdict,
    overlap,
)
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.ordered_checks import OF_BYTES, OF_COUNTS, OF_PASSAGES


def judge(
    scene: Scene,
    held: Mapping[str, ReferenceCounts],
    checked: arithmetic.EquationClaims,
    offered: Sequence[offers.Offer],
    bound: Sequence[table_subjects.ModelTable],
    *,
    firm: bool,
) -> list[Claim]:
    """Hold every kind of claim against what it can be held against; what one check has judged, the later ones leave."""
    tabled = frozenset(line for one in bound for line in one.table.lines)
    lettered = list(formulas.check(scene, held))
    known = ends_of(claim for claim in lettered if claim.verdict == "wrong")
    claims = [claim for claim in checked.claims if claim.verdict != "wrong" or (claim.line, claim.end) not in known]
    numbers = {scene.lines[index].number for index in tabled}
    claims += lettered + list(tensors.check(scene))
    claims += [c for c in configuration.check(scene, firm=firm) if c.line not in numbers] if scene.has_models else []
    explained = list(nearby.check(scene))
    follows = ends_of(claim for claim in explained if has_unit(claim))
    components_held = components.check(scene, checked, held, offered, firm=firm, tabled=tabled)
    claims += [c for c in components_held if c.verdict != "wrong" or (c.line, c.end) not in follows]
    claims += model_tables.check(scene, bound)
    claims += work_columns.check(scene, bound)
    claims += claims_elsewhere(model_caches.check(scene, bound), claims)
    claims += shares.check(scene, held, offered, firm=firm)
    wrong = ends_of(claim for claim in claims if claim.verdict == "wrong")
    sectioned = list(section_shares.check(scene))
    claims += [c for c in sectioned if c.verdict == "wrong" and (c.line, c.end) not in wrong]
    claims += _later_claims(scene, held, checked, tabled, claims, (sectioned, explained))
    claims += claims_elsewhere(written_products.check(scene, held, offered, firm=firm), claims)
    asked = [
        *answered_questions.check(scene, tabled),
        *of_another_verdict(
            [
                *chinese_sentences.check(scene, tabled),
                *chinese_bytes.check(scene, tabled),
                *chinese_parts.check(scene, held, tabled, firm=firm),
                *family_lists.check(scene, tabled),
                *family_cells.check(scene),
                *family_ranges.check(scene, tabled),
                *member_groups.check(scene, tabled),
                *passage_quantities.check(scene, tabled),
                *(claims for kind in OF_PASSAGES for claims in kind.check(scene)),
            ],
            claims,
        ),
    ]
    places = by_line(asked)
    rest = [one for one in claims if not any(overlap(one, c) for c in places.get(one.line, ()))]
    return [*asked, *drop_inner_sizes(list(solved_equations.leave_open(scene, elsewhere.leave_out(scene, rest, numbers))))]


def _later_claims(
    scene: Scene,
    held: Mapping[str, ReferenceCounts],
    checked: arithmetic.EquationClaims,
    tabled: Collection[int],
    before: Sequence[Claim],
    found: tuple[Sequence[Claim], Sequence[Claim]],
) -> list[Claim]:
    """Return the claims of the checks that leave what is judged already, each in its turn."""
    (sectioned, explained), claims, taken = found, list(before), ends_of(before)
    scene = scene._replace(judged=taken)  # it grows as they go

    def of_models(kind: ModuleType, *facts: object) -> Iterable[Claim]:
        """Return what a check finds that holds claims against models; a text that names none, and has no sizes of one, is spared it."""
        return kind.check(scene, *facts) if scene.has_models else ()

    for later in (
        of_models(towers),
        of_models(tower_sizes),
        changes.check(scene, held),
        adapters.check(scene),
        ratios.check(scene),
        breakdowns.check(scene, held),
        row_products.check(scene, claims),
        proportional_columns.check(scene),
        *(kind.check(scene) for kind in (column_sums, headed_formulas)),
        comments.check(scene, claims),
        *(kind.check(scene) for kind in (matrices, bracketed_products, image_patches, made_modules)),
        sectioned,
        summaries.check(scene),
        layer_summaries.check(scene, held),
        *(kind.check(scene) for kind in (dtypes, dtype_tables)),
        *(of_models(kind, tabled) for kind in OF_COUNTS),
        list_sums.check(scene),
        *(kind.check(scene) for kind in OF_BYTES),
        memory.check(scene),
        work.check(scene),
        training_work.check(scene),
        comparisons.check(scene),
        results.check(scene),
        of_models(printed_counts),
        modules.check(scene),
        printed_widths.check(scene),
        inline_steps.check(scene),
        explained,
        bytes_said.check(scene),
        *(of_models(kind, tabled) for kind in (plain_fields, compared_models, owned_sizes, opened_sentences, fields)),
        of_models(paired_products),
        of_models(sizes_for_names, tabled),
        of_models(spoken_shapes, tabled),
        of_models(agreed_settings, tabled),
        of_models(changed_sizes, tabled),
        shaped_maps.check(scene),
        pictures.check(scene),
        of_models(passages, tabled, claims),
        of_models(passage_counts, tabled, claims),
        *(kind.check(scene) for kind in (identities, generic_formulas)),
        mistyped.check(scene, held, claims, checked.slips),
    ):
        fresh = [claim for claim in later if (claim.line, claim.end) not in taken]
        taken |= ends_of(fresh)
        claims += fresh
    return claims[len(before) :]
