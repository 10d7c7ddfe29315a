"""The map, the tree and the tables of alike models: what is drawn is what the record says."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
import sample_records as samples

import polyculture as pc
from polyculture.report.html import html
from polyculture.report.similarity import MOST_ALIKE, context, most_alike, near_duplicate_words
from polyculture.report.similarity_map import shade, similarity_map


def test_shades_are_those_of_the_key():
    assert [shade(value) for value in (-0.3, 0.0, 0.19, 0.2, 0.45, 0.6, 0.8, 1.0, None)] == [0, 1, 1, 2, 3, 4, 5, 5, 6]


def test_the_map_shows_every_pair_twice_in_the_order_of_the_tree():
    record = samples.waimai()
    drawn = similarity_map(record.collection, record.pairs, "map")
    assert drawn.cells == [[-1, 3, 3], [3, -1, 6], [3, 6, -1]]
    assert drawn.named
    text = str(drawn.wide)
    assert [text.count(f">{name}<") for name in record.collection.order] == [1, 1, 1]
    # Four cells of shade 3 and two undefined ones, each a subpath.
    assert re.search(r'class="kappa3" d="([^"]*)"', text)[1].count("z") == 4
    assert re.search(r'class="kappa6" d="([^"]*)"', text)[1].count("z") == 2


def test_neighbours_of_one_shade_are_joined_where_cells_are_small():
    record = samples.many_models(120)
    alike = tuple(samples.pair(pair.models, 10, 5, 0.5) for pair in record.pairs)
    text = str(similarity_map(record.collection, alike, "map").compact)
    assert re.search(r'class="kappa3" d="([^"]*)"', text)[1].count("z") == 2 * 120 - 2


def test_the_tree_joins_all_models_at_its_heights():
    record = samples.waimai()
    text = str(similarity_map(record.collection, record.pairs, "map").wide)
    steps = re.search(r'd="(M[^"]*)" fill="none"', text)[1]
    ends = [float(x) for x in re.findall(r"H([\d.]+)V", steps)]
    start = float(re.match(r"M([\d.]+)", steps)[1])
    heights = [merge.height for merge in record.collection.merges]
    assert steps.count("M") == 2
    assert (ends[0] - start) / (ends[1] - start) == pytest.approx(heights[0] / heights[1], abs=0.01)


def test_names_are_escaped_and_left_out_where_they_do_not_fit():
    hostile = samples.hostile()
    drawn = similarity_map(hostile.collection, hostile.pairs, "map")
    assert "<script" not in str(drawn.wide)
    many = similarity_map(samples.many_models(120).collection, samples.many_models(120).pairs, "map")
    assert not many.named
    assert "<text" not in str(many.wide)


def test_pairs_are_ordered_by_kappa_with_undefined_ones_last():
    ordered = most_alike(samples.waimai().pairs)
    assert [pair.kappa.value for pair in ordered] == [0.52, 0.47, None]


def test_long_tables_hold_every_pair_and_every_model():
    record = samples.many_models()
    tables = context(record)["pair_tables"]
    assert (len(tables.alike), tables.total) == (MOST_ALIKE, 60 * 59 // 2)
    assert [one.model for one in tables.nearest] == list(record.collection.order)
    page = html(record)
    assert page.count("data-filter=") == 2
    assert "data-filter=" not in html(samples.waimai())


def test_no_map_and_no_section_without_pairs():
    page = html(samples.one_model())
    assert 'id="collection"' not in page
    assert 'id="pairs"' not in page


def test_near_duplicates_are_named_and_counted():
    assert near_duplicate_words(samples.waimai().collection) == (
        "May be the same model, or nearly so: Amazon and Baidu (kappa 0.93)."
    )


def test_individuals_are_called_what_they_are():
    rng = np.random.default_rng(4)
    failed = rng.random((300, 3)) < np.where(rng.random((300, 1)) < 0.3, 0.7, 0.2)
    frame = pl.DataFrame({f"m{j}": failed[:, j].astype(int) for j in range(3)})
    page = html(pc.audit(frame, outcomes="failed", noun="reviews", nulls="rasch").record)
    for name in ("collection", "panel", "pairs", "nulls"):
        section = page.partition(f'id="{name}"')[2].partition("</section>")[0]
        assert "scroll" in section, name
        told = section.partition("<summary>What each model")[0]  # what a null supposes is said of individuals
        assert "individual" not in told.lower(), name
    assert "reviews that get another outcome from some model" in page
