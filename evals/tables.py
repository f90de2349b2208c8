"""A run as tables: one row a pair and stage, and means of it by group. Every number of a report comes from here.

Means over pairs are exact sums, blind to order. `n` stands beside every mean; where a value is missing (nothing
expected, nothing returned) it is empty, never 0, and how many there are is a column.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from evals import bands
from evals.certificate import certify, lowest_by_need
from evals.imported import Kept, judged
from evals.losses import Loss
from evals.metrics import Metric, evaluate, hit, mean, precision, reached, recall
from evals.questions import Key, Pair
from evals.run import Measured, Run
from evals.stages import STAGES
from evals.statistics import smallest_visible_loss

SHARES = (0.01, 0.05, 0.1)


def measures(run: Run) -> pd.DataFrame:
    """One row for each pair and stage, in the run's order: what was expected, reached and returned."""
    lengths = {state: dict(zip(run.positions[state], each, strict=True)) for state, each in run.characters.items()}
    return pd.DataFrame([row for measured in run.pairs for row in _rows(measured, lengths[measured.pair.state])])


def _rows(measured: Measured, lengths: Mapping[str, int]) -> Iterable[dict[str, object]]:
    """A row for each stage; `lengths` are the characters of the state's laws by id."""
    found: dict[tuple[str, ...], dict[str, object]] = {}
    for stage, returned in measured.trace.stages().items():
        # Without a reranker the answer is the fused result: measured once.
        if returned not in found:
            found[returned] = _row(measured.pair, returned, lengths)
        yield {**found[returned], "stage": stage}


def _row(pair: Pair, returned: Sequence[str], lengths: Mapping[str, int]) -> dict[str, object]:
    """What came back for a pair at a stage that is filled in later."""
    return {
        "need": pair.need,
        "question": pair.question,
        "state": pair.state,
        "kind": pair.kind,
        "language": pair.lang,
        "topic": pair.topic,
        "tags": pair.tags,
        "expects": pair.expects,
        "class": pair.unrelated or pair.expects,
        "stage": "",
        "groups": len(pair.expected),
        "reached": sum(reached(pair.expected, returned)),
        "recall": recall(pair.expected, returned),
        "hit": hit(pair.expected, returned),
        "precision": precision(pair.relevant, returned) if pair.expected else None,
        "laws": len(returned),
        "characters": sum(map(lengths.__getitem__, returned)),
    }


def stage_means(frame: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Means of the answerable pairs at each stage, by group: n first, then recall over pairs and over needs, and so on.

    `by` names columns of `measures`. Groups come in alphabetical order, kinds in the question set's.
    """
    answerable = frame[frame["expects"] == "answerable"]
    rows = []
    for group, part in _groups(answerable, by):
        rows += [{**group, "stage": stage, **_means(part[part["stage"] == stage])} for stage in STAGES]
    return pd.DataFrame(rows)


def parted(frame: pd.DataFrame, columns: Iterable[str]) -> Iterable[tuple[str, str, pd.DataFrame]]:
    """All rows as one part, `all`, then those of each value of each column: the column, the value, the rows."""
    yield "all", "all", frame
    for by in columns:
        yield from ((by, str(name), part) for name, part in frame.groupby(by, sort=True))


def _groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterable[tuple[dict[str, object], pd.DataFrame]]:
    if not by:
        yield {}, frame
        return
    for key, part in frame.groupby(list(by), sort=True):
        yield dict(zip(by, key, strict=True)), part


def _means(part: pd.DataFrame) -> dict[str, object]:
    recalls = part["recall"].tolist()
    needs = [mean(values.tolist()) for _, values in part.groupby("need", sort=True)["recall"]]
    precisions = [None if pd.isna(value) else value for value in part["precision"]]
    return {
        "pairs": len(part),
        "needs": len(needs),
        "recall": mean(recalls),
        "recall over needs": mean(needs),
        "hit": mean(part["hit"].tolist()),
        "precision": mean(precisions),
        "nothing returned": sum(value is None for value in precisions),
        "laws": mean(part["laws"].tolist()),
        "characters": mean(part["characters"].tolist()),
    }


def by_tag(frame: pd.DataFrame) -> pd.DataFrame:
    """Stage means for each tag; a pair counts under every tag it has."""
    exploded = frame.explode("tags").dropna(subset=["tags"]).rename(columns={"tags": "tag"})
    return stage_means(exploded, ["tag"])


def expect_nothing(frame: pd.DataFrame) -> pd.DataFrame:
    """Questions that no law answers, by class: how often the near search returned nothing, and the laws returned.

    Only the near search is judged by silence: a shared word is luck, so later stages show the number they return.
    """
    nothing = frame[frame["expects"] != "answerable"]
    rows = []
    for (name,), part in nothing.groupby(["class"], sort=True):
        near = part[part["stage"] == "near"]["laws"].tolist()
        returned = {
            f"laws by {stage}": mean(part[part["stage"] == stage]["laws"].tolist())
            for stage in ("words", "near", "fused", "pool")
        }
        silent = mean([float(count == 0) for count in near])
        rows.append({"class": name, "pairs": len(near), "near returned nothing": silent, **returned})
    return pd.DataFrame(rows)


def band_quantiles(points: Sequence[bands.Point]) -> pd.DataFrame:
    """Each band's number of cosines and its quantiles."""
    rows = []
    for group in bands.GROUPS:
        values = bands.cosines(points, group)
        found = bands.quantiles(values) or {}
        rows.append({"band": group, "n": len(values), **{f"{at:.0%}": found.get(at) for at in bands.QUANTILES}})
    return pd.DataFrame(rows)


def bands_by(points: Sequence[bands.Point]) -> pd.DataFrame:
    """The same for each kind of question, language and state; a band without a cosine there has no quantiles."""
    rows = []
    for by, of in (("kind", "kind"), ("language", "lang"), ("state", "state")):
        for group in sorted({str(getattr(point.pair, of)) for point in points}):
            part = band_quantiles([point for point in points if getattr(point.pair, of) == group])
            rows += [{"by": by, "group": group, **row} for row in part.to_dict(orient="records")]
    return pd.DataFrame(rows)


def overlaps(points: Sequence[bands.Point]) -> pd.DataFrame:
    """How far the bands without an answer reach into the answers.

    `answers below`: the share of answers under the band's 95 % point; `above answers`: the share of the band over the
    answers' 5 % point; `in the overlap`: how many cosines of both lie between the lowest answer and the band's highest.
    """
    rows = []
    for group in ("unrelated", "uncovered", "nearest wrong"):
        found = bands.overlap(points, group)
        rows.append(
            {
                "band": group,
                "answers below": found["answering below"],
                "above answers": found["above answering"],
                "in the overlap": len(bands.in_overlap(points, group)),
            }
        )
    return pd.DataFrame(rows)


def band_points(points: Sequence[bands.Point]) -> pd.DataFrame:
    """Every cosine of every band with its question and law, the highest first."""
    rows = [
        {
            "band": point.group,
            "cosine": point.cosine,
            "question": point.pair.question,
            "state": point.pair.state,
            "kind": point.pair.kind,
            "law": point.law,
            "text": point.pair.text,
        }
        for point in points
    ]
    frame = pd.DataFrame(rows, columns=["band", "cosine", "question", "state", "kind", "law", "text"])
    return frame.sort_values(["band", "cosine", "question", "state"], ascending=[True, False, True, True])


def metric_means(run: Run, metrics: Sequence[Metric], kept: Mapping[Key, Kept] | None = None) -> pd.DataFrame:
    """Each metric at each stage of a run: its mean over the pairs for which it has a value, and how many those are.

    A stage's laws are taken in the order in which it gave them. kept: what was imported with the questions, whose
    grades are the gains of nDCG.
    """
    rows = []
    for stage in STAGES:
        questions = [
            judged(each.pair, each.trace.stages()[stage], (kept or {}).get(each.pair.key)) for each in run.pairs
        ]
        for metric, values in evaluate(metrics, questions).items():
            there = sum(value is not None for value in values)
            rows.append({"stage": stage, "metric": str(metric), "pairs": there, "mean": mean(values)})
    return pd.DataFrame(rows)


def promises(points: Sequence[bands.Point]) -> pd.DataFrame:
    """For a few shares, the highest cutoff of which it may be said that it costs no more of the needs, and how sure."""
    lowest = lowest_by_need(points)
    if not lowest:
        return pd.DataFrame(columns=["share", "level", "needs", "cutoff", "sentence"])
    found = [certify(lowest, share) for share in SHARES]
    return pd.DataFrame(
        [
            {
                "share": each.share,
                "level": each.level,
                "needs": each.needs,
                "cutoff": each.certified,
                "sentence": each.sentence,
            }
            for each in found
        ]
    )


def losses_table(losses: Sequence[Loss], saved_by: Mapping[tuple[str, str, tuple[str, ...]], str]) -> pd.DataFrame:
    """Every expected group that did not arrive in the pool or the answer, with the reason at each search.

    saved_by: for groups that the pool lost, by question, state and group, the changes of one setting that bring it in.
    """
    rows = [
        {
            "question": loss.pair.question,
            "state": loss.pair.state,
            "kind": loss.pair.kind,
            "stage": loss.stage,
            "expected": " or ".join(loss.group),
            "words": loss.words,
            "near": loss.near,
            "fused": loss.fused,
            "saved by": saved_by.get((loss.pair.question, loss.pair.state, loss.group), ""),
            "text": loss.pair.text,
        }
        for loss in losses
    ]
    columns = ["question", "state", "kind", "stage", "expected", "words", "near", "fused", "saved by", "text"]
    return pd.DataFrame(rows, columns=columns)


def loss_reasons(losses: Sequence[Loss]) -> pd.DataFrame:
    """How many groups each stage lost, by the reason, the commonest first."""
    counts = Counter((loss.stage, loss.reason) for loss in losses)
    order = sorted(counts.items(), key=lambda item: (item[0][0] != "pool", -item[1], item[0][1]))
    rows = [{"stage": stage, "reason": reason, "lost": count} for (stage, reason), count in order]
    return pd.DataFrame(rows, columns=["stage", "reason", "lost"])


def losses_by(losses: Sequence[Loss]) -> pd.DataFrame:
    """How many groups each stage lost, for each kind of question and each state, by the reason, the commonest first."""
    rows = []
    for by, of in (("kind", "kind"), ("state", "state")):
        for group in sorted({str(getattr(loss.pair, of)) for loss in losses}):
            part = loss_reasons([loss for loss in losses if getattr(loss.pair, of) == group])
            rows += [{"by": by, "group": group, **row} for row in part.to_dict(orient="records")]
    return pd.DataFrame(rows, columns=["by", "group", "stage", "reason", "lost"])


def what_the_set_holds(frame: pd.DataFrame) -> pd.DataFrame:
    """Pairs and needs by what they expect, state, kind, language and topic, and the smallest loss each group can show.

    `one law`: how far the mean of recall falls where one expected law is lost. `would show`: the smallest share of such
    needs that could lose a law and be seen, at least once, in 95 of 100 sets of this size.
    """
    once = frame[frame["stage"] == "pool"]
    rows = []
    for by in ("expects", "state", "kind", "language", "topic"):
        for (name,), part in once.groupby([by], sort=True):
            expecting = part[part["groups"] > 0]
            needs = expecting["need"].nunique()
            rows.append(
                {
                    "by": by,
                    "group": name,
                    "needs": part["need"].nunique(),
                    "pairs": len(part),
                    "needs that expect a law": needs,
                    "pairs that expect a law": len(expecting),
                    "expected laws": int(part["groups"].sum()),
                    "one law": 1 / (len(expecting) * expecting["groups"].max()) if needs else None,
                    "would show": smallest_visible_loss(needs) if needs else None,
                }
            )
    return pd.DataFrame(rows)
