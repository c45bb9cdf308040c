"""The forms of texts, and which columns of them are categories."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from rocmax._tables._decide import COMMAND, PYTHON, decide  # noqa: E402
from rocmax._tables._forms import forms_of, reads_as_missing, same_label  # noqa: E402

N = 120


@pytest.mark.parametrize(
    "texts",
    [
        ["18-29", "30-39", "40-49", "50+"],
        ["<18", "18-64", ">= 65"],
        ["<3", ">=3"],
        ["0", "1", "2", "3+"],
        *(["2019-20", "2020-21", "2021-22"], ["2007/08", "2009/10", "2011/12"]),  # all of them months too
        *(["5-10 mg", "10-20 mg"], ["40-49 years", "60+ years"], ["120/80 mmHg", "140/90 mmHg"]),
        ["1:20", "1:40", "1:80", "1:160", "1:10"],  # titers, three of which are times too
        ["20/20", "20/40", "20/200"],
        *(["2021-1", "2021-2"], ["1/2021", "2/2021"], ["8140/3", "8500/3"], ["12.3/14", "13/14"]),
        *(
            ["2.0 TDI", "1.6 HDI"],
            ["4 doors", "2 doors"],
            ["1 star", "2 stars"],
            ["163.com", "126.com"],
            ["7372", "75x"],
        ),
        *(
            ["0 none", "1 mild", "2 severe"],
            ["1. yes", "2. no"],
            ["49ers", "76ers"],
            ["2xx", "4xx"],
            ["1 Marker", "2 Marker"],
        ),
        ["0-4", "5-9", "10-14", "unknown", "15-19", "20-24", "25-29", "30-34", "35-39", "40-44", "45-49"],
    ],
)
def test_few_ranges_and_bounds_are_a_category_and_the_command_says_so(texts):
    frame = pd.DataFrame({"g": [texts[k % len(texts)] for k in range(N)]})
    schema, notes = decide(frame, words=COMMAND)
    assert schema.categorical == ["g"]
    assert "column 'g' is treated as a category: it holds " in notes[0].text
    assert decide(frame) == (schema, [])


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"{k}-{k + 9}" for k in range(N)], "a range"),
        ([f"{100 + k % 40}/{60 + k % 7}" for k in range(N)], "two numbers with a slash"),
        ([f"{k % 40} crates" for k in range(N)], "a number with a word"),
        ([f"2021-{1 + k % 12}" for k in range(N)], "a date"),  # most are no ranges
        ([f"{20 + k % 60}{'FM'[k % 2]}" for k in range(N)], "a number with one of two letters"),
        ([f"{20 + k % 60} {'fm'[k % 2]}" for k in range(N)], "a number with one of two letters"),
        ([f"{k % 60}.5{'NS'[k % 2]}" for k in range(N)], "a number with one of two letters"),
        (["ND" if k % 2 else str(5 + k % 80) for k in range(2 * N)], "which is not a number, unlike"),
        (["<5" if k % 3 == 0 else str(5 + k % 50) for k in range(N)], "a bound"),  # a limit of detection
        (["3-4" if k == 7 else str(k % 5) for k in range(N)], "a range"),  # a slip in a column of grades
    ],
)
def test_other_ranges_and_bounds_are_refused(texts, what):
    with pytest.raises(ValueError, match=f"column 'g' holds .*{what}"):
        decide(pd.DataFrame({"g": texts}))


@pytest.mark.parametrize(
    "texts",
    [
        *(["62505-2511", "10001-1234"], ["12-34C", "12-35C"], ["A*02:01", "A*24:02"]),
        *(["34B", "36C", "38D"], ["12F", "7M", "9A"], ["1-Mar", "TP53", "EGFR"]),
        *(["1st", "2nd", "3rd"], ["12A", "7B"], ["2a", "2b", "3a"], ["99-40-77", "98-13-45"], ["1990-95", "2015-99"]),
        *(
            ["1970s", "1980s"],
            ["20s", "30s", "40s"],
            ["205/55R16", "195/65R15"],
            ["9h-17h", "8h-12h"],
            ["6am-2pm", "2pm-6pm"],
        ),
        *(
            ["3-4 years", "5-6 years"],
            ["2021S1", "2021S2"],
            ["1p36", "2q31"],
            ["2D", "3D"],
            ["3G", "4G"],
            ["2.0i", "1.8T"],
        ),
        *(
            [f"{stem}{k}" for k in (10, 11, 12)]
            for stem in ("Marker ", "market-", "Mark ", "Octave ", "Decoder ", "Maya ")
        ),
        *(
            [f"{stem}{k}" for k in (10, 11, 12)]
            for stem in ("Mayo ", "Mars ", "Junior ", "Augustus-", "Sepia ", "Nova ")
        ),
    ],
)
def test_codes_that_look_like_numbers_and_dates(texts):
    assert decide(pd.DataFrame({"g": texts * N}))[0].categorical == ["g"]


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("t", 1.6e9 + 86400.0 * np.arange(N), "looks like dates, in seconds since 1970, such as 1600000000"),
        ("t", 1.6e12 + 0.5 * np.arange(N), "looks like dates, in milliseconds since 1970"),
        ("t", 1.38e10 + 86400.0 * np.arange(N), "looks like dates, in seconds since 1582"),  # of SPSS
        ("visit_date", 44000.0 + np.arange(N), "looks like dates, in days since a fixed day"),  # of a spreadsheet
        ("patient_id", np.arange(2 * N) // 2, "has few rows of each value; if it is an id, "),
        *(("income", 44000.5 + np.arange(N), ""), ("cells", 1e9 * (1.0 + np.arange(N)) + 0.5, "")),
        *(("site_id", np.arange(9 * N) % 9, ""), ("updates", 44000.0 + np.arange(2 * N) // 2, "")),
    ],
)
def test_numbers_that_are_dates_or_ids_are_reported(name, values, said):
    for words in (PYTHON, COMMAND):
        schema, notes = decide(pd.DataFrame({name: values}), words=words)
        assert schema.numeric == [name] and [said in note.text for note in notes] == [True] * bool(said)


def test_numbers_that_begin_with_zero_have_no_thousands():
    for text in ("0,207", "0.207", "-0.500", "000 123"):
        assert "thousands" not in forms_of([text])[text].what
    assert "thousands" in forms_of(["1,207"])["1,207"].what
    assert "a number with a dot" in forms_of(["0.207"], comma=True)["0.207"].what


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("sick", "Sick ", True),
        ("1", "True", True),
        (True, "1", True),
        ("1", "1.0", True),
        (0, "false", True),
        ("Y", "yes", True),
        (">50K", ">50K.", True),
        ("N", "y", False),
        ("yes", 1, True),
        ("c\u0430se", "case", True),  # a Cyrillic letter
        ("pos\u0131t\u0131ve", "Positive", True),
        ("\u22121", "-1", True),
        ("sick", "sicker", False),
        ("heart-disease", "heart_disease", True),
        ("don’t", "don't", True),
        ("A+", "A-", False),
        (1, 2, False),
        (np.True_, "true", True),
    ],
)
def test_labels_that_differ_only_to_a_computer(one, other, same):
    assert same_label(one, other) is same


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Jan-24", "a date"),
        ("Mar 2024", "a date"),
        ("2024Q1", "a date"),
        ("2024-W05", "a date"),
        ("5. 1. 2024", "a date"),
        ("$1.2k", "currency"),
        ("1,5", "a decimal comma"),
        (",5e-3", "a decimal comma"),
        *((text, "another minus sign") for text in ("5.5-", "\u22125")),
        *((text, "a date") for text in ("January 2, 2024", "2024-Jan-02", "Jan 2", "2024-01-02 5 PM")),
        *((f"{unit} 5", "currency") for unit in ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "Fr.")),
        *((text, "in parentheses") for text in ("($5)", "(EUR 5)")),
        *((text, "of thousands or millions") for text in ("5k", "1.2 M")),
        *((text, "a percentage") for text in ("5 %", "0.3‰")),
        ("10 000 kr", "a unit"),
        ("10 000 ₽", "currency"),
        ("1.5 ± 0.2", "two numbers"),
        ("1.5 (0.3)", "two numbers"),
        ("(10, 20]", "a range"),
        ("0x1F", "hexadecimal"),
        ("0x10", "hexadecimal"),
        ("2019-20", "a range"),
        ("E11.9", "a text"),
        *((text, "a ratio") for text in ("1:160", "3:1")),
        ("A+", "a text"),
        *((text, "a duration") for text in ("P1D", "PT5H30M", "P1Y2M")),
        *((text, "two numbers") for text in ("5 per 1000", "12 of 30", "1 in 20", "10x20")),
        *((text, "in two units") for text in ("1h30", "1h 30m", "3 years 2 months", "5'11\"", "24°30'N", "5 ft 11 in")),
        *((text, "a power of ten") for text in ("5.2 x 10^3", "5.2×10³", "7.3D+01", "5.2×10⁹/L")),
        *((text, "other digits or marks") for text in ("٣٤", "1½", "5·2", "\u200b1.5")),
        *((text, "in quotation marks") for text in ("'5", '="5"', "\u201c5.2\u201d", "\u00ab5\u00bb")),
        *((text, "currency") for text in ("R$ 5", "US$5", "kr 5")),
        *((text, "separators of thousands") for text in ("1,23,456", "1'234")),
        *((text, "a remark") for text in ("5 (H)", "12.5 (10.1-14.9)", "12.5*", "7 †")),
        *((text, "a bound") for text in ("ca. 5", "less than 5")),
        *((text, "a time") for text in ("12:30.5", "-1:30")),
        *((text, "a list") for text in ("[1, 2, 3]", '{"k": 3}')),
        *((text, "a date") for text in ("02JAN2024", "02JAN2024:03:04:05", "2. Januar 2024", "2 de enero de 2024")),
        *((text, "a date") for text in ("Tue, 02 Jan 2024 03:04:05 GMT", "2-Jan", "2024年1月2日", "2024-W05-3")),
        *((text, "a date") for text in ("2018-04-27 03:04:05+00", "0000-00-00", "2024H1")),
        *((text, "a date") for text in ("Januar 22", "März 2024", "février 2022", "mayo 2022", "01-Mai-24", "05/2024")),
        *(
            (text, "a date")
            for text in ("octobre 2020", "20200101T030405Z", "Wed Jan 01 03:04:05 2020", "01.02.", "Q1/10")
        ),
        *(
            (text, "a unit")
            for text in ("4GB", "330ml", "1L", "98.6F", "48.85° N", "5 years old", "20/day", "5 g/24h", "7 l/100km")
        ),
        *(
            (text, "a unit")
            for text in ("80 ml/min/1.73m2", "3.1 10^9/L", "22 kg/m²", "500 MG", "23.4 kmpl", "120 mmHg")
        ),
        *((text, "a time") for text in ("5 PM", "11:45 a.m.")),
        *((text, "a text") for text in ("Decile 5", "rs123", "p53", "C50", "v1.2.3")),
    ],
)
def test_what_a_text_is(text, what):
    assert what in forms_of([text])[text].what


@pytest.mark.parametrize("text", ["1{}x", "-{}!", "({}x", "(1{} x", "(1{},1", "[{}", "1.{}\n1", "1{}h", "1 kg{}!"])
@pytest.mark.parametrize("part", ["1", " ", "1,", "1 ", "1.1", "h.", "111 ", "[1"])
def test_the_time_is_linear_in_the_length(text, part):
    """Of long cells; with the square of that, a case would take many seconds."""
    long = text.format(part * (50_000 // len(part)))
    assert set(forms_of([long])) == {long}


def test_numbers_beside_few_codes_are_no_category():
    """By the number of different texts: 5 codes beside numbers, or as many names as there are tickets."""
    for n_names, refused in ((1, True), (5, True), (6, False), (N, False)):
        held = [f"C{k // 3 % n_names}x" if k % 3 == 0 else str(100 + k % 50) for k in range(N)]
        for words in (PYTHON, COMMAND):
            if refused:
                with pytest.raises(
                    ValueError, match="'C0x' in row 1, which is not a number, unlike 80 of its 120 values"
                ):
                    decide(pd.DataFrame({"a": held}), words=words)
            else:
                assert "a" not in decide(pd.DataFrame({"a": held, "b": range(N)}), words=words)[0].numeric
    few = [f"C{k // 3 % 5}x" if k % 3 == 0 else str(k % 30) for k in range(N)]
    assert decide(pd.DataFrame({"a": few}))[0].categorical == ["a"]


def test_ages_in_several_units_are_refused():
    with pytest.raises(ValueError, match="holds '5y' in row 1, a number with a unit"):
        decide(pd.DataFrame({"age": ["5y", "6m", "3w"] * N}))


def test_names_that_look_alike_are_told():
    frame = pd.DataFrame({"g": ["male", "Male", "female", "female "] * N, "a": range(4 * N)})
    for words in (PYTHON, COMMAND):
        note = next(note for note in decide(frame, words=words)[1] if note.kind == "alike")
        assert note.column == "g" and "'female' and 'female ' (and 1 more) differ only by case" in note.text
    assert not decide(frame.replace({"Male": "male", "female ": "female"}))[1][1:]


def test_true_beside_1_looks_alike():
    for one, other in (("1", "true"), ("1", "1.0")):
        (note,) = decide(pd.DataFrame({"g": [one, other] * N}), categorical=["g"])[1]
        assert f"'{one}' and '{other}' differ" in note.text


def test_days_as_numbers_are_told():
    days = [20240101 + 100 * (k % 12) + k % 28 for k in range(N)]
    (note,) = decide(pd.DataFrame({"day": days}))[1]
    assert note.kind == "dates" and "such as 20240101" in note.text
    assert not decide(pd.DataFrame({"code": [*days[1:], 20241301]}))[1]


@pytest.mark.parametrize("form", ["%Y%m%d%H%M%S", "%Y%m%d%H%M", "%Y%m", "%y%m%d", "%d%m%Y", "%m%d%Y"])
def test_days_as_numbers_of_other_forms_are_told(form):
    days = pd.date_range("2013-02-03", periods=2 * N, freq="17D").strftime(form).astype("int64")
    (note,) = (note for note in decide(pd.DataFrame({"day": [*days, *days]}))[1] if note.kind == "dates")
    assert f"such as {days[0]}" in note.text
    assert not any(note.kind == "dates" for note in decide(pd.DataFrame({"code": [*days, *(2 * days)]}))[1])


def test_texts_that_differ_in_numbers_alone_are_told():
    frame = pd.DataFrame({"dose": [f"{k % 40} then 7" for k in range(N)], "site": [f"s{k % 40}" for k in range(N)]})
    (note,) = decide(frame, words=COMMAND)[1]
    assert "column 'dose' is treated as a category: its texts differ in numbers alone, as '0 then 7' and" in note.text


def test_long_integers_are_texts_and_ids_are_told():
    schema, _ = decide(pd.DataFrame({"code": [2**60 + k % 3 for k in range(N)], "id": [2**60 + k for k in range(N)]}))
    assert schema.categories[0].categories == tuple(str(2**60 + k) for k in range(3))
    assert schema.left_out == {"id": "an id or free text"}
    number = [0, *range(N - 1)]
    notes = decide(pd.DataFrame({"patient_id": number, "paid": number}))[1]
    assert [(note.kind, note.column) for note in notes] == [("id", "patient_id")]


@pytest.mark.parametrize(("code", "others", "told"), [(-1, (0.2, 0.9), True), (-1, (1, 1), False), (777, (1, 5), True)])
def test_codes_are_far_from_all_others(code, others, told):
    frame = pd.DataFrame({"a": [code if k % 9 == 0 else others[k % 2] for k in range(N)]})
    assert any(note.kind == "missing code" for note in decide(frame)[1]) == told


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        *(((0, 1, 9), {9}), ((1, 2, 7, 9), {7, 9}), ((1, 2, 8, 9), {8, 9}), ((0, 1, 8), {8}), ((1, 9), set())),
        *((range(10), set()), ((1, 2, 3, 4, 5, 7, 8, 9), set()), ((0, 1, 2, 3, 9), {9}), ((1, 2, 77, 99), {77, 99})),
    ],
)
def test_labels_that_mean_no_answer(labels, codes):
    assert {label for label in labels if reads_as_missing(label, labels)} == codes


def test_texts_that_are_numbers_are_told_in_python():
    frame = pd.DataFrame({"a": [f"{k % 5}.5" for k in range(N)], "code": [f"{k % 5:02d}" for k in range(N)]})
    (note,) = decide(frame)[1]
    assert "column 'a' is treated as a category: its texts are numbers, such as '0.5'; convert them" in note.text
    numbers = pd.DataFrame({"a": [f"{k}.5" for k in range(N)], "b": frame["code"]})
    for words, said in (
        (PYTHON, "convert it to numbers or to a category"),
        (COMMAND, "texts; write its numbers as such"),
    ):
        assert any(said in note.text for note in decide(numbers, words=words)[1])


def test_each_code_of_several_is_named():
    held = np.arange(N) % 40.0
    for codes in ([-999.0], [-99.0, -999.0], [-999.0, -99.0, 9999.0]):
        held[: 10 * len(codes)] = np.repeat(codes, 10)
        (note,) = decide(pd.DataFrame({"z": held}), words=COMMAND)[1]
        assert {*map(float, note.values)} == {*codes} and note.rows == 10 * len(codes)
        assert ("if they mean" in note.text) is (len(codes) > 1) and "missing, --missing-values " in note.text
    held[:10] = 41
    assert len(decide(pd.DataFrame({"z": held}))[1][0].values) == 2
