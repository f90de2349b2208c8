"""YAML and JSON Lines: every trap that has changed somebody's data without a word is refused with its line."""

import json
from pathlib import Path

import pytest

from retrieval.documents import content_hash, parse_lines, read_json_lines, read_yaml, strict_json
from retrieval.errors import InputError


def faults_of_yaml(tmp_path: Path, text: str | bytes) -> list[str]:
    """The faults of a YAML file, without the folder."""
    path = tmp_path / "a.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as refused:
        read_yaml(path)
    return [str(fault).replace(f"{tmp_path}/", "") for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\nb: 2\na: 3\n", "a.yaml:3: the key 'a' is given twice, first on line 1"),
        ("NO: 1\n", "a.yaml:1: the key NO is read as false, not as text: quote it"),
        ("0123: 1\n", "a.yaml:1: the key 0123 is read as 83, not as text: quote it"),
        ("? [a]\n: 1\n", "a.yaml:1: the key a collection is read as nothing, not as text: quote it"),
        ("a: &x [1]\nb: *x\n", "a.yaml:1: anchors and aliases (& and *) are not read here; write the value out"),
        (
            "a: !!python/name:os.system x\n",
            "a.yaml:1: the tag tag:yaml.org,2002:python/name:os.system is not read here",
        ),
        ("a: !mine x\n", "a.yaml:1: the tag !mine is not read here"),
        ("a: 2026-13-45\n", "a.yaml:1: 2026-13-45 looks like a date and is none: quote it"),
        ("a: [1\n", "a.yaml:2: not YAML: did not find expected ',' or ']'"),
        (b"a: \xff\n", "a.yaml:1: not UTF-8 text; save the file as UTF-8"),
        ("a: 1\n---\nb: 2\n", "a.yaml:2: not YAML: but found another document"),
    ],
)
def test_what_yaml_would_change_is_refused(tmp_path: Path, text: str | bytes, fault: str) -> None:
    """Keys twice, keys that are no text, aliases, tags, impossible dates, other encodings: file, line and reason."""
    assert faults_of_yaml(tmp_path, text) == [fault]


def test_all_faults_together(tmp_path: Path) -> None:
    """Everything wrong is told at once, in the order of lines."""
    assert [fault.split(":")[1] for fault in faults_of_yaml(tmp_path, "a: 1\na: 2\nb: !x 1\nNO: 3\n")] == [
        "2",
        "3",
        "4",
    ]


@pytest.mark.parametrize("text", ["[" * 60 + "]" * 60, "[" * 100_000])
def test_nesting_without_end_is_refused(tmp_path: Path, text: str) -> None:
    """Deep nesting is a fault, not a crash."""
    assert faults_of_yaml(tmp_path, text)


def test_values_keep_their_lines_and_what_yaml_read(tmp_path: Path) -> None:
    """A document knows where a value stands, what stands there, and whether a comment cuts it off."""
    path = tmp_path / "a.yaml"
    path.write_text("a:\n  - see § 12 # note\n  - on\n", encoding="utf-8")
    document = read_yaml(path)
    assert document.data == {"a": ["see § 12", True]}
    assert document.line(("a", 1)) == 3
    assert document.line(("a", 1, "deeper", 9)) == 3
    assert document.raw["a", 1] == ("on", "a truth value")
    assert document.commented == {("a", 0)}


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    """An empty YAML file is a document without data."""
    (tmp_path / "a.yaml").write_text("", encoding="utf-8")
    assert read_yaml(tmp_path / "a.yaml").data is None


def test_json_lines_with_faults_by_line(tmp_path: Path) -> None:
    """Good rows come back with their lines, bad ones as faults; blank lines, BOMs and CRLF are no matter."""
    path = tmp_path / "a.jsonl"
    half = '{"a": "x \\ud800 y"}'
    lines = ["\ufeff" + '{"a": 1}', half, '{"a": NaN}', '{"a": 1, "a": 2}', "[1]", '{"a": ', '{"b": 2}', "[" * 100_000]
    path.write_bytes("\r\n".join(lines).encode())
    rows, faults = read_json_lines(path)
    assert rows == [(1, {"a": 1}), (7, {"b": 2})]
    assert [(fault.line, fault.what.split(";")[0].split(" at ")[0]) for fault in faults] == [
        (2, "holds half a character: a \\u escape of a surrogate without its other half"),
        (3, "NaN is not JSON"),
        (4, 'the key "a" is given twice'),
        (5, "expected an object {...} on every line"),
        (6, "not JSON: Expecting value"),
        (8, "nested too deeply"),
    ]


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    """A file that is not there is told by its name."""
    with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read: No such file"):
        read_json_lines(tmp_path / "gone.jsonl")


def test_lines_that_were_read_already_are_numbered_from_any_line() -> None:
    """Text or bytes; a line that is not UTF-8 is a fault of its own."""
    rows, faults = parse_lines(Path("a.jsonl"), ['{"a": 1}', b"", b"\xff", '{"é": 2}'.encode()], 7)
    assert rows == [(7, {"a": 1}), (10, {"é": 2})]
    assert [(fault.file, fault.line, fault.what[:14]) for fault in faults] == [("a.jsonl", 9, "not UTF-8 text")]


def test_hashes_are_of_content() -> None:
    """As sha256sum gives it for `{"a":1,"b":[2,"é"]}`, whatever the order of keys; the digits that are asked for."""
    assert content_hash({"b": [2, "é"], "a": 1}, 20) == content_hash({"a": 1, "b": [2, "é"]}, 20)
    assert content_hash({"b": [2, "é"], "a": 1}, 16) == "992f8d0a5d6192a6"
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_hash(float("nan"), 16)


def test_hashes_stay_what_they_were_recorded_as() -> None:
    """The settings that the baseline holds have the fingerprint that stands beside them."""
    path = Path(__file__).parents[1] / "reports" / "baseline" / "baseline.json"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert content_hash(recorded["settings"], 16) == recorded["fingerprints"]["settings"]


def test_a_nan_is_never_written() -> None:
    """The writer refuses NaN, which a reader's script would die of."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json({"a": float("nan")})
