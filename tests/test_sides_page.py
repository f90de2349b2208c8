"""The page of two sides or one as a file: what it shows was measured, is inert, and is no more than it may be."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evals import bands, tables
from evals.commands.compare import compare_command
from evals.compare import compare
from evals.exchange.report import files
from evals.outcomes import Outcome, Side, read_side
from evals.report.files import per_question
from evals.report.pages import recalls, traces
from evals.report.pages.details import Detail, Shown, read_nearest, shown_folder
from evals.report.pages.sides import comparison_page, signed
from evals.report.pages.traces import EXTENTS, asked, data, packed
from evals.rerun import rerun
from evals.run import Run
from evals.stages import STAGES
from evals.statistics import paired_permutation
from retrieval.documents import strict_json
from retrieval.errors import InputError
from retrieval.settings import changed
from tests import sides
from tests.browser import compared, world
from tests.sides import outcome
from tests.test_page import embedded, unpacked


def shown(*outcomes: Outcome, laws: str = "l") -> Shown:
    """A side of these outcomes, of which nothing more is known."""
    return Shown("a run", sides.side(*outcomes, laws=laws), {}, {})


def pages() -> dict[str, str]:
    """Every page that the world gives."""
    return {
        "two sides": compared.html(),
        "two models": compared.models_html(),
        "one side": compared.foreign_files()["index.html"],
        "nothing in common": comparison_page(*compared.nothing()),
    }


# -- What the page holds


def test_every_place_in_the_page_is_that_of_its_ranking() -> None:
    """A group's first law at each stage on each side: one higher, 1 where it is lacking, 0 where nobody ran it."""
    both = compared.both()
    every = asked(both, compared.comparison())
    places = iter(unpacked(embedded(compared.html())["places"]).tolist())
    for each in every:
        for group in each.groups:
            laws = next(one for one in group if one is not None).laws
            for side in each.outcomes:
                for stage in STAGES:
                    returned = list(side.stages[stage]) if side else []
                    found = [returned.index(law) for law in laws if law in returned]
                    assert next(places) == (0 if side is None else min(found) + 2 if found else 1)
    assert next(places, None) is None


def test_every_ranking_in_the_page_is_what_was_returned() -> None:
    """By pair, side and stage, ids and order, with the cosines of the near search beside them, never rounded up."""
    both, content = compared.both(), embedded(compared.html())
    returned, lengths = iter(unpacked(content["returned"]).tolist()), iter(unpacked(content["lengths"]).tolist())
    counts, cosines = iter(unpacked(content["cosineCounts"]).tolist()), iter(unpacked(content["cosines"]).tolist())
    for each in asked(both, compared.comparison()):
        ids = content["laws"][each.latest.state]["ids"]
        for side, own in zip(both, each.outcomes, strict=True):
            for stage in STAGES:
                length = next(lengths)
                assert length == (1 + len(own.stages[stage]) if own else 0)
                wanted = list(own.stages[stage]) if own else []
                assert [ids[next(returned)] for _ in wanted] == wanted
            exact = side.detail(each.latest.key).cosines if own else ()
            kept = [next(cosines) / 10_000 - 2 for _ in range(next(counts))]
            assert all(one - 0.0001 <= other <= one + 1e-12 for one, other in zip(exact, kept, strict=True))
    assert [next(each, None) for each in (returned, lengths, counts, cosines)] == [None] * 4


def test_a_pair_says_which_side_expects_which_group() -> None:
    """A group that one side alone expects stands beside those of both; a side that lacks a pair has no outcome."""
    before, now = compared.both()
    content = embedded(compared.html())
    for row, each in zip(content["pairs"], asked((before, now), compared.comparison()), strict=True):
        assert [side is not None for side in row[9]] == [own is not None for own in each.outcomes]
        for flags, laws, cosines in row[7]:
            names = frozenset(content["laws"][each.latest.state]["ids"][law] for law in laws)
            expects = [own is not None and names in {group.name for group in own.groups} for own in each.outcomes]
            assert flags == expects[0] + 2 * expects[1]
            for cosine, own, expected in zip(cosines, each.outcomes, expects, strict=True):
                if own is not None and expected:
                    assert cosine == next(group.cosine for group in own.groups if group.name == names)
    flags = {group[0] for row in content["pairs"] for group in row[7]}
    assert flags == {1, 2, 3}


def test_the_bands_dots_are_the_runs() -> None:
    """The nearest law that does not answer, with its exact cosine, of every pair that has one."""
    content = embedded(compared.foreign_files()["index.html"])
    wanted = {
        (point.pair.question, point.pair.state): (point.law, point.cosine)
        for point in compared.foreigner().points
        if point.group != "answering"
    }
    strings, found = content["strings"], {}
    for row in content["pairs"]:
        (side,) = row[9]
        if side[4] is not None:
            law, cosine = side[4]
            found[strings[row[0]], strings[row[1]]] = content["laws"][strings[row[1]]]["ids"][law], cosine
    assert found == wanted
    assert len(wanted) < len(content["pairs"])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_cosine_of_four_digits_is_kept_as_it_is(sign: int) -> None:
    """One that is exactly at a cutoff never looks as if it lay under it."""
    assert all(traces._cut_cosine(sign * at / 10_000) == sign * at for at in range(10_001))


# -- What the page says


def test_means_differences_and_p_by_group() -> None:
    """Each cell of the table is a change of the comparison, with the paired test of that group alone."""
    found = compared.comparison()
    changes = {(each.by, each.group, each.stage): each for each in found.changes}
    rows = recalls.difference_rows(found)
    assert {(row.by, row.group) for row in rows} == {(by, group) for by, group, _ in changes}
    tested = 0
    for row in rows:
        whole = [each for each in found.pairings if each.groups]
        part = [each for each in whole if row.by == "all" or getattr(each.after, row.by) == row.group]
        for stage, cell in zip(found.stages, row.cells, strict=True):
            change = changes[row.by, row.group, stage]
            assert (cell.before, cell.after, row.pairs) == (change.before, change.after, change.pairs)
            was, now = zip(*(each.recall(stage) for each in part), strict=True)
            test = paired_permutation(was, now, [each.after.need for each in part], over="pairs")
            assert test is not None
            assert (cell.p, cell.sure) == (test.p, test.difference != 0 and test.p <= 0.05)
            tested += cell.p < 1
    assert tested > 5


def test_recall_of_one_side_by_hand() -> None:
    """Means over pairs with an interval whose units are needs; questions that expect nothing are in none."""
    found = recalls.recall_rows(
        [outcome("a/p"), outcome("b/p", pool=[]), outcome("c/p", "AL", kind="typo"), outcome("d/p", expected=[])],
        ["pool"],
    )
    assert [(row.by, row.group, row.pairs, row.needs, row.cells[0].recall) for row in found] == [
        ("all", "all", 3, 3, 2 / 3),
        ("kind", "plain", 2, 2, 0.5),
        ("kind", "typo", 1, 1, 1.0),
        ("state", "AL", 1, 1, 1.0),
        ("state", "MD", 2, 2, 0.5),
        ("language", "en", 3, 3, 2 / 3),
    ]
    assert found[2].cells[0].low < 0.05
    assert recalls.recall_rows([outcome(expected=[])], ["pool"]) == []
    assert [row.group for row in recalls.of(found, "state", "all")] == ["AL", "MD", "all"]


def test_a_comparison_in_sentences() -> None:
    """What was lost and gained, how sure, what only one side holds, and what the gate says."""
    before = shown(*(outcome(f"{name}/p") for name in "abc"), laws="l")
    after = shown(outcome("a/p", pool=[]), outcome("b/p"), outcome("d/p"), laws="m")
    text = comparison_page(before, after, ["gate: failed", "  1 expected law"])
    for said in (
        "Of 2 expected laws in both, the pool loses 1 and gains none; the answer loses 1 and gains none.",
        "pool 1.000 → 0.500 (p = 1.00, not to be told from chance)",
        "1 of 1 lost laws are of the kind plain; 1 of 1 lost laws are of the state MD",
        "1 pair asked only before; 1 pair asked only now.",
        "failed; 1 expected law",
        '<th scope="row">fingerprint of laws</th><td>l</td><td>m</td>',
        "was 1.000, −0.500",
        'data-open="a/p@MD"',
    ):
        assert said in text, said
    assert "fingerprint of questions</th><td>q</td><td>q</td>" in text[text.index("The same on both sides") :]


def test_models_that_differ_are_told() -> None:
    """Their cosines mean nothing beside each other."""
    assert "The two sides have different models" in compared.models_html()
    assert "The two sides have different models" not in compared.html()


def test_a_difference_is_written_with_its_sign() -> None:
    """To three digits, and as none where it is less."""
    assert [signed(each) for each in (0.0123, -0.5, 0.0, 0.0004, -0.0004)] == ["+0.012", "−0.500", "±0", "±0", "±0"]


def test_questions_that_no_law_answers() -> None:
    """Laws and silences of both sides, over the pairs that both hold and the stages that both ran."""
    before = shown(outcome("m/p", expected=[], pool=["MD-1", "MD-2"], answer=[]))
    kept = {"pool": (), "near": ("MD-1",)}
    after = shown(outcome("m/p", expected=[], stages=kept), outcome("n/p", expected=[], stages=kept))
    text = comparison_page(before, after)
    part = text[text.index("Questions that no law answers") : text.index("</table>", text.index("no law answers"))]
    rows = [re.findall(r">([^<>]*)</t[hd]>", row) for row in re.findall(r"<tr>.*?</tr>", part)[1:]]
    assert rows == [["unrelated", "near", "1", "0", "1", "1", "0"], ["unrelated", "pool", "1", "2", "0", "0", "1"]]


# -- Inert, small, the same


@pytest.mark.parametrize("name", pages())
def test_nothing_of_others_is_markup(name: str) -> None:
    """Names of runs, texts, ids and kinds make no element; the data holds no < and no separator of lines."""
    text = pages()[name]
    content = text[text.index('id="data">') : text.index("</script>", text.index('id="data">'))]
    assert not set("<\u2028\u2029") & set(content)
    markup = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    assert "<img" not in markup
    assert not re.search(r"<b>(bold|topic|reason)|<i>(tag|nobody)", markup)
    assert not re.search(r"<(link|iframe|object|embed|video|audio|base)\b|\bsrc=\"|url\(|@import", markup)
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in text
    links = re.findall(r'href="(.*?)"', markup)
    assert links
    assert all(re.fullmatch(r"#[\w-]+|#open=[\w.~%/@-]+|tables/[\w-]+\.csv", link) for link in links), links


@pytest.mark.parametrize("name", pages())
def test_no_missing_number_is_written(name: str) -> None:
    """Neither NaN nor None nor infinity, in the data or in a cell; the data is strict JSON."""
    text = pages()[name]

    def refused(constant: str) -> None:
        raise AssertionError(constant)

    content = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert content
    json.loads(content[1], parse_constant=refused)
    markup = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r">\s*(nan|NaN|None|inf|-inf)\s*<", markup)


def test_a_cosine_that_is_no_number_is_refused() -> None:
    """The writer takes none."""
    side = shown(outcome("a/p", cosine=math.nan))
    with pytest.raises(ValueError, match="JSON"):
        comparison_page(side, side)


def test_the_same_sides_give_the_same_page() -> None:
    """To the byte, computed anew."""
    for made in (compared.both, compared.models):
        wanted = comparison_page(*made())
        made.cache_clear()
        assert comparison_page(*made()) == wanted
    assert files(replace(compared.foreigner())) == compared.foreign_files()


def test_a_page_that_would_be_too_large_leaves_out_what_did_not_change() -> None:
    """Depth and letters first, then rankings of what is the same; every flip keeps its own, every pair its places."""
    both, found = compared.both(), compared.comparison()
    every = asked(both, found)
    flipped = {each.after.key for each in (*found.lost, *found.gained)}
    kept = {}
    for extent in EXTENTS:
        content = packed(both, every, found, extent)
        of = unpacked(content["kept"])  # type: ignore[arg-type]
        kept[extent] = {each.latest.key for each, one in zip(every, of, strict=True) if one}
        assert flipped <= kept[extent]
        assert len(content["pairs"]) == len(every)  # type: ignore[arg-type]
    sizes = [len(data(both, found, most)) for most in (10**9, 1)]
    assert sizes[1] < sizes[0]
    last = EXTENTS[-1]
    alone = {each.latest.key for each in every if None in each.outcomes}
    assert kept[last] == flipped | alone
    assert len(kept[last]) < len(kept[EXTENTS[2]]) < len(every)


# -- Folders of reports


def folder(path: Path, run: Run) -> Path:
    """What a page reads of a run's report."""
    (path / "tables").mkdir(parents=True)
    points = bands.points(run)
    summary = {"settings": run.settings.model_dump(), "fingerprints": dict(run.fingerprints), "verdict": "a verdict"}
    (path / "run.json").write_text(strict_json(summary))
    rows = "".join(strict_json(row) + "\n" for row in per_question(run))
    (path / "per_question.jsonl").write_text(rows, encoding="utf-8")
    tables.band_points(points).to_csv(path / "tables" / "band-points.csv", index=False)
    return path


def test_a_folder_shows_what_its_run_does(tmp_path: Path) -> None:
    """Outcomes, accepted laws, cosines, nearest laws, and the texts of laws that are those it measured."""
    run = world.run()
    path = folder(tmp_path / "run", run)
    found = shown_folder(path, read_side(path), run.corpus, run.settings)
    wanted = compared._shown(str(path), run)
    assert found.details == wanted.details
    assert found.laws == wanted.laws
    assert found.side.outcomes.keys() == wanted.side.outcomes.keys()
    other = {**run.corpus, "AL": run.corpus["AL"][1:]}
    assert shown_folder(path, read_side(path), other, run.settings).laws == {}


def test_what_a_folder_does_not_hold_is_not_known(tmp_path: Path) -> None:
    """Without the bands' points no nearest law; a line without accepted laws and cosines has none."""
    run = world.run()
    path = folder(tmp_path / "run", run)
    (path / "tables" / "band-points.csv").unlink()
    rows = [json.loads(line) for line in (path / "per_question.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    for row in rows:
        del row["accepted"], row["near cosines"]
    (path / "per_question.jsonl").write_text("".join(strict_json(row) + "\n" for row in rows))
    found = shown_folder(path, read_side(path), {}, run.settings)
    assert set(found.details.values()) == {Detail()}
    text = comparison_page(found, found)
    assert "the pool loses none and gains none" in text


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("answering,NaN,a/b,MD,plain,MD-1,text", "nan is no cosine"),
        ("unrelated,7.5,a/b,MD,plain,MD-1,text", "7.5 is no cosine"),
        ("unrelated,high,a/b,MD,plain,MD-1,text", "could not convert string to float"),
        ("unrelated,", "could not convert string to float"),
        (f"unrelated,0.5,{'x' * 200_000},MD,plain,MD-1,text", "no table: field larger than field limit"),
    ],
)
def test_points_of_a_band_that_are_none(tmp_path: Path, row: str, what: str) -> None:
    """Each is refused with its line."""
    path = tmp_path / "band-points.csv"
    path.write_text(f"band,cosine,question,state,kind,law,text\nanswering,0.5,a/b,MD,plain,MD-1,x\n{row}\n")
    with pytest.raises(InputError) as refused:
        read_nearest(path)
    assert what in str(refused.value)
    assert refused.value.faults[0].line in (2, 3)


@pytest.mark.parametrize("change", [{"accepted": "MD-1"}, {"near cosines": [7.5]}, {"near cosines": [None]}])
def test_details_that_are_none(tmp_path: Path, change: dict[str, object]) -> None:
    """Each is refused with its file and line."""
    run = replace(world.run(), pairs=world.run().pairs[:2])
    path = folder(tmp_path / "run", run)
    first, second = (path / "per_question.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    (path / "per_question.jsonl").write_text(f"{first}\n{strict_json({**json.loads(second), **change})}\n")
    with pytest.raises(InputError) as refused:
        shown_folder(path, read_side(path), {}, run.settings)
    assert [(fault.file, fault.line) for fault in refused.value.faults] == [(str(path / "per_question.jsonl"), 2)]


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two folders, after its text; a folder in the file's place is refused."""
    run = world.run()
    smaller = rerun(run, changed(run.settings, ["candidate_laws=3"]))
    one, other = folder(tmp_path / "one", run), folder(tmp_path / "other", smaller)
    out = tmp_path / "pages" / "both.html"
    compare_command.main([str(one), str(other), "--html", str(out)], standalone_mode=False)
    assert capsys.readouterr().out.splitlines()[-1] == f"The page: {out}"
    text = out.read_text(encoding="utf-8")
    assert f"Before: {one}. Now: {other}." in text
    found = compare(read_side(one).outcomes, read_side(other).outcomes)
    lost = sum("pool" in flip.stages for flip in found.lost)
    assert f"the pool loses {lost} and" in text
    with pytest.raises(InputError, match="is a folder; --html names a file"):
        compare_command.main([str(one), str(other), "--html", str(tmp_path)], standalone_mode=False)


def test_one_side_beside_itself_has_no_flip() -> None:
    """And says so, in figures and in the data."""
    side = Shown("it", Side.of(world.run()), {}, {})
    text = comparison_page(side, side)
    assert "the pool loses none and gains none" in text
    assert not unpacked(embedded(text)["changed"]).any()
    assert text.count("±0") > 20
