"""What the Rust crate's tests expect of `Roc` are this package's intervals and paired tests."""

import csv

import pytest

import rust_intervals


def test_the_crate_is_tested_against_todays_numbers() -> None:
    with rust_intervals.STORED.open(encoding="utf-8") as file:
        stored = list(csv.reader(file))[1:]
    made = list(rust_intervals.rows())
    assert len(made) == len(stored) > 60
    for row, expected in zip(made, stored, strict=True):
        assert [str(cell) for cell in row[:7]] == expected[:7]
        assert row[7:] == pytest.approx([float(cell) for cell in expected[7:]], rel=1e-12, abs=1e-13), row[:7]
