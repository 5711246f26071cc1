"""Checks of one kind in the order in which they run: of counts, of bytes, of passages."""

from __future__ import annotations

from weighbridge.auditing.checks import (
    adapter_passages,
    apposed_counts,
    bytes_beside,
    bytes_of_counts,
    cache_columns,
    cache_lengths,
    cache_ratios,
    card_lines,
    chinese_owners,
    closed_families,
    described_counts,
    explained_counts,
    lettered_bytes,
    listed_sizes,
    listed_totals,
    nominal_bytes,
    nominal_grids,
    number_shares,
    owned_counts,
    paired_lists,
    restated_sizes,
    restated_units,
    run_times,
    sentence_bytes,
    spelled_counts,
    stated_bytes,
    totals,
    weight_groups,
)

OF_COUNTS = (
    paired_lists,
    listed_sizes,
    listed_totals,
    totals,
    owned_counts,
    described_counts,
    apposed_counts,
    card_lines,
    chinese_owners,
    closed_families,
)
OF_PASSAGES = (
    explained_counts,
    restated_units,
    restated_sizes,
    spelled_counts,
    nominal_grids,
    run_times,
    adapter_passages,
    number_shares,
    cache_ratios,
)
OF_BYTES = (
    weight_groups,
    lettered_bytes,
    stated_bytes,
    bytes_beside,
    bytes_of_counts,
    cache_columns,
    cache_lengths,
    nominal_bytes,
    sentence_bytes,
)
