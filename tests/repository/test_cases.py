"""The stored cases are what their generator makes of their inputs."""

import json

import pytest

from generate_cases import FILES, FOLDER, difference, plain


@pytest.mark.parametrize("name", FILES)
def test_what_is_expected_is_made_of_the_inputs(name):
    stored = json.loads((FOLDER / f"{name}.json").read_text())["cases"]
    made = [plain(FILES[name](case)) for case in stored]
    assert len(made) >= 12 and all(made)
    # Interior points end the quadratic programs of pairs.
    assert difference(made, stored) < (1e-6 if name == "pair_machines" else 1e-9)
