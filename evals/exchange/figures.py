"""Metrics of what another system returned: a row a question and stage, and means by group. Reads no file.

A question for which the file holds nothing counts as one to which nothing was returned, as `trec_eval -c` has it; how
many those are is a column. Means are exact sums over the questions that have a value.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from evals.exchange.foreign import Foreign
from evals.imported import Kept, judged
from evals.judged import Judged
from evals.metrics import METRICS, Metric, evaluate, mean
from evals.questions import Key

FIGURES = (
    Metric("recall"),
    Metric("recall", 10),
    Metric("precision"),
    Metric("hit"),
    Metric("nDCG", 10),
    Metric("MRR"),
    Metric("MAP"),
)
NOTHING = (Metric("silent"), Metric("returned"))


def of_run(foreign: Foreign, kept: Mapping[Key, Kept], metrics: Iterable[Metric] = FIGURES) -> pd.DataFrame:
    """One row for each stage that was run and each pair, in the set's order: what it is, and its metrics."""
    rows: list[dict[str, object]] = []
    wanted = [*metrics, *NOTHING]
    for stage in foreign.stages:
        questions = [judged(pair, foreign.laws(stage, pair.key), kept.get(pair.key)) for pair in foreign.pairs]
        values = {str(metric): found for metric, found in evaluate(wanted, questions).items()}
        for at, (pair, question) in enumerate(zip(foreign.pairs, questions, strict=True)):
            rows.append(
                {
                    "need": pair.need,
                    "question": pair.question,
                    "state": pair.state,
                    "kind": pair.kind,
                    "class": pair.unrelated or pair.expects,
                    "stage": stage,
                    "in the file": pair.key in foreign.returned[stage],
                    "laws": len(question.returned),
                    **{name: found[at] for name, found in values.items()},
                }
            )
    return pd.DataFrame(rows)


def of_judgements(questions: Mapping[str, Judged], in_file: Iterable[str], metrics: Iterable[Metric]) -> pd.DataFrame:
    """The same for questions that are only judged: a row a question, without state, kind and stage."""
    there = set(in_file)
    wanted = list(dict.fromkeys([*metrics, *NOTHING]))
    values = {str(metric): found for metric, found in evaluate(wanted, questions.values()).items()}
    rows = [
        {
            "question": name,
            "class": "answerable" if question.expected else "expects nothing",
            "in the file": name in there,
            "laws": len(question.returned),
            **{metric: found[at] for metric, found in values.items()},
        }
        for at, (name, question) in enumerate(questions.items())
    ]
    return pd.DataFrame(rows)


def there(column: "pd.Series[float]") -> list[float | None]:
    """A column's values, None where a table has NaN for a value that is missing."""
    return [None if pd.isna(value) else float(value) for value in column]


def means(frame: pd.DataFrame, by: Sequence[str] = (), expecting: bool = True) -> pd.DataFrame:
    """Means by group of the questions that expect a law, or of those that expect none: n first, then each metric.

    A metric without any value there is left out; `by` names columns, groups come in the frame's order.
    """
    wanted = frame[(frame["class"] == "answerable") == expecting]
    asked = "answerable" if expecting else "expects nothing"
    names = [name for name in frame.columns if (of := METRICS.get(name.split("@")[0])) and of.asked_of == asked]
    groups = wanted.groupby(list(by), sort=False) if by else [((), wanted)]
    rows = []
    for group, part in groups:
        if len(part):
            returned = part["laws"].tolist()
            rows.append(
                {
                    **dict(zip(by, group, strict=True)),
                    "questions": len(part),
                    "in the file": int(part["in the file"].sum()),
                    "nothing returned": returned.count(0),
                    "laws": mean(returned),
                    **{name: mean(there(part[name])) for name in names},
                }
            )
    return pd.DataFrame(rows)
