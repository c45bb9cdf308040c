"""What a column of a training table is: read where it is plain, refused where it is not."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from rocmax._tables._forms import begins_with_digit  # noqa: E402
from rocmax._tables._schema import BOOSTING, COMMAND, PYTHON, Ends, decide  # noqa: E402

N = 120


@pytest.mark.parametrize(
    "text",
    [
        *("5 mg", "-1,5", "2024-01-02", " $1.2k", "<5", "(5)", "\u22125", "12:30", "\u00bd", "\u0663\u0664", "[1, 2]"),
        *("\u200b1.5", "1st", "np.float64(1.58)", "tensor(1.58)", "Decimal('1.5')", ".5", "12A"),
    ],
)
def test_texts_that_begin_with_a_digit(text):
    assert begins_with_digit(text) and not begins_with_digit(f"x {text}")


@pytest.mark.parametrize("text", ["Q3", "C50", "A*02:01", "Mar 5, 2024", "EUR 12", "+", "", "low (5)", "一月"])
def test_texts_that_do_not(text):
    assert not begins_with_digit(text)


@pytest.mark.parametrize("words", [PYTHON, COMMAND])
@pytest.mark.parametrize(
    ("texts", "kind", "reason"),
    [
        (["C50", "C51", "1-Mar"], "category", ""),
        (["low", "Low", "low ", "NA"], "category", ""),  # each text is one
        ([f"s{k}" for k in range(60)], "category", ""),
        (["18-29", "30-39", "40-49", "50+"], "category", "most begin with a digit"),
        (["2", "3", "4", "5more"], "category", "most begin with a digit"),
        ([str(k) for k in range(9)] + ["low"] * 2, "refused", "'low' in row 10, which is no number"),
        ([str(k) for k in range(8)] + ["low"], "category", "most begin with a digit"),
        ([*(str(k) for k in range(N)), *["not done"] * 200], "refused", "'not done' in row 121, which is no number"),
        ([f"{k % 30} kg" for k in range(60)], "category", "most begin with a digit"),
        ([f"{k % 31} kg" for k in range(62)], "refused", "'0 kg' in row 1 and '1 kg' in row 2: "),
        ([f"{k} kg" for k in range(9)], "refused", "'0 kg' in row 1 and '1 kg' in row 2"),
        ([f"tensor({k}.5)" for k in range(9)], "refused", "'tensor(0.5)' in row 1"),
        ([f"2024-01-{k % 28 + 1:02d}" for k in range(50)], "refused", "'2024-01-01' in row 1"),
        (["21,719", *(f"{k},{k + 100}" for k in range(40))] * 2, "refused", "'21,719' in row 1"),
        ([f"k{k}" for k in range(9)], "left out", "an id or free text"),
        ([None] * 9, "left out", "no value"),
    ],
)
def test_what_texts_are(texts, kind, reason, words):
    texts = texts * N if kind == "category" else texts
    frame = pd.DataFrame({"g": pd.Series(texts, dtype=object), "a": np.arange(len(texts)) / 8})
    if kind == "refused":
        with pytest.raises(ValueError, match="column 'g' holds ") as told:
            decide(frame, words=words)
        assert reason in str(told.value)
        assert decide(frame, categorical=["g"], words=words)[0].categorical == ["g"]
        return
    schema, notes = decide(frame, words=words)
    (column, _) = schema.columns
    assert (column.kind, column.reason) == (kind, reason)
    assert column.categories == (tuple(sorted({*texts})) if kind == "category" else ())
    told = kind == "left out" and words is PYTHON
    assert [("'g'" in note.text) for note in notes] == [True] * bool(told)
    assert decide(frame.drop(columns="a"), words=BOOSTING)[0].used == ["g"]  # takes all columns


def test_all_columns_that_are_refused_are_in_one_message():
    held = {"day": [f"2024-1-{k}" for k in range(N)], "q v": [f"{k} kg" for k in range(N)]}
    held |= {"age": ["low", "<5", *map(str, range(N - 2))], "a": range(N)}
    with pytest.raises(ValueError) as told:
        decide(pd.DataFrame(held), words=COMMAND)
    for text in ("'2024-1-0' in row 1", "'0 kg' in row 1", "'low' in row 1", "--categorical"):
        assert text in str(told.value)
    assert "paste --missing-values low '<5' --drop day 'q v';" in str(told.value)
    with pytest.raises(TypeError, match=r"'day' has type datetime64.*'q v' holds .*or drop them") as told:
        decide(pd.DataFrame(held).assign(day=pd.date_range("2024-01-01", periods=N)))
    assert "'age' holds 'low'" in str(told.value)
    with pytest.raises(ValueError, match=r"column '11' holds .*; and 8 more columns: .* --drop 0 1 2 .* 18 19"):
        decide(pd.DataFrame({str(k): held["q v"] for k in range(20)}), words=COMMAND)


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("z", np.arange(N) % 2, "flag", ""),
        ("z", np.arange(N) / 7, "number", ""),
        ("z", np.arange(N), "number", "all different"),
        ("Unnamed: 0", np.arange(N), "left out", "an index"),
        ("index", np.arange(N) // 2 * 1.0, "number", ""),
        ("index", np.r_[np.arange(N - 1), 0], "left out", "an index"),
        ("X", np.arange(N), "left out", "an index"),
        ("X", np.r_[np.arange(N - 1), 0], "number", ""),
        ("z", np.full(N, np.nan), "left out", "no value"),
        ("z", 2**60 + np.arange(N) % 3, "category", "most begin with a digit"),  # float64 would round them
    ],
)
def test_what_numbers_are(name, values, kind, reason):
    for words in (PYTHON, COMMAND):
        schema, _ = decide(pd.DataFrame({name: values, "b": np.arange(N) % 9}), words=words)
        assert (schema.columns[0].kind, schema.columns[0].reason) == (kind, reason)
        assert schema.columns[0].name == name


def test_texts_that_are_numbers_are_told_in_python():
    frame = pd.DataFrame({"a": [f"{k % 5}.5" for k in range(N)], "code": [f"{k % 5:02d}" for k in range(N)]})
    (note,) = decide(frame)[1]
    assert "that are numbers are treated as categories: 'a'; convert them unless" in note.text
    assert not decide(frame, words=COMMAND)[1]


def test_long_ids_and_texts_of_numbers_are_refused():
    for texts in ([2**60 + k for k in range(N)], [f"{k}.5" for k in range(N)]):
        with pytest.raises(ValueError, match=r"column 'a' holds .* in row 1 and .* in row 2"):
            decide(pd.DataFrame({"a": texts}))


@pytest.mark.parametrize(
    ("others", "codes"),
    [
        *((np.arange(40), codes) for codes in ([-999], [-99, -999], [-999, -99, 9999], [777])),
        ([1, 2], [9]),
        ([1, 5], [777]),
        ([0.2, 0.9], [-1]),
        *((others, []) for others in ([1, -1], [0, 1, 5000, 9000], [0, 24, 28, 44], np.arange(100), [0, 4, 5, 9])),
    ],
)
@pytest.mark.parametrize("batches", [1, 7])
def test_values_far_from_all_others_are_told(others, codes, batches):
    held = np.random.default_rng(0).permutation(np.repeat([*others, *codes], 10))
    ends = Ends()
    for part in np.array_split(held, batches):
        ends.add(part)
    assert ends.codes() == dict.fromkeys(codes, 10)
    notes = [note for note in decide(pd.DataFrame({"z": held}), words=COMMAND)[1] if note.kind == "missing code"]
    assert [{*map(float, note.values)} for note in notes] == [{*codes}] * bool(codes)
    assert not codes or f"--missing-values {' '.join(map(str, sorted(codes)))}" in notes[0].text
    assert not decide(pd.DataFrame({"z": [*np.unique(held), *others]}), words=COMMAND)[1]  # one row of each code
