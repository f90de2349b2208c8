"""The summary as Markdown: what a person reads first, in a pull request or beside the page."""

import math
import re
from numbers import Integral

import pandas as pd

from evals.counted import counted
from evals.report.contents import Contents
from evals.report.overview import with_searches
from evals.reranking import statement
from evals.run import Run

SHOWN = [
    "pairs",
    "needs",
    "recall",
    "recall over needs",
    "hit",
    "precision",
    "nothing returned",
    "laws",
    "characters",
]
LOSSES_SHOWN = 40

# What a backslash makes a letter of; within a word an underscore is one already.
_MARKUP = re.compile(r"[\\|`\[\]*~]|(?<!\w)_|_(?!\w)")


def summary(contents: Contents) -> str:
    """The run in Markdown: stages, kinds, bands, questions that expect nothing, and the losses by reason and name."""
    run, all_tables = contents.run, contents.tables
    pool = all_tables["by-kind"]
    lost = all_tables["losses"]
    parts = [
        "# Recall of the retrieval pipeline",
        cell(measured(contents)),
        "## By kind of question, in the pool",
        "Kinds are the headline: how many questions of each kind a set holds decides an overall mean.",
        table(pool[pool["stage"] == "pool"].drop(columns="stage")),
        "## Stages, all questions that expect a law",
        table(all_tables["stages"]),
        "## By state, in the pool",
        table(all_tables["by-state"][all_tables["by-state"]["stage"] == "pool"].drop(columns="stage")),
        "## Bands",
        contents.verdict,
        table(all_tables["bands"]),
        table(all_tables["overlap"]),
        *all_tables["promises"]["sentence"],
        *(["## Metrics", table(all_tables["metrics"])] if contents.metrics else []),
        "## Questions that no law answers",
        table(all_tables["expect-nothing"]),
        "## Where laws were lost",
        table(all_tables["loss-reasons"]),
        f"The first {min(LOSSES_SHOWN, len(lost))} of {len(lost):,}; all are in tables/losses.csv.",
        table(lost.head(LOSSES_SHOWN)),
        "## Fingerprints",
        "\n".join(f"* {name}: `{value}`" for name, value in run.fingerprints.items()),
    ]
    return "\n\n".join(parts) + "\n"


def measured(contents: Contents) -> str:
    """What was measured, in two sentences."""
    run = contents.run
    settings = run.settings
    return (
        f"{asked(run)}. Model {run.model}; near_enough {settings.cutoff:g}, near_laws {settings.near_laws},"
        f" pool {settings.candidate_laws}{with_searches(run)}, rephrase {settings.rephrase},"
        f" rerank {settings.rerank}: {statement(run)}."
    )


def asked(run: Run) -> str:
    """How many laws of which states, and what was asked of them."""
    laws = counted(sum(map(len, run.corpus.values())), "law")
    needs = counted(len({each.pair.need for each in run.pairs}), "need")
    questions = counted(len({each.pair.question for each in run.pairs}), "way")
    pairs = counted(len(run.pairs), "pair")
    return f"{laws} of {', '.join(run.corpus)}; {needs} asked in {questions}, {pairs} of question and state"


def table(frame: pd.DataFrame) -> str:
    """A table in Markdown: numbers to the right, three digits of a share, nothing where there is no value."""
    if frame.empty:
        return "None."
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame.columns]
    rows = [
        "| " + " | ".join(map(str, frame.columns)) + " |",
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
    ]
    rows += ["| " + " | ".join(map(cell, values)) + " |" for values in frame.itertuples(index=False, name=None)]
    return "\n".join(rows)


def cell(value: object) -> str:
    """A value for a Markdown cell: what others wrote cannot end the cell or hold markup."""
    text = _MARKUP.sub(r"\\\g<0>", " ".join(shown(value).split()))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def shown(value: object) -> str:
    """A value as people read it: three digits of a share, one of a count's mean, thousands parted; none is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) > 1 else f"{value:.3f}"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{int(value):,}"
    return str(value)
