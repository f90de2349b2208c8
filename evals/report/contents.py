"""Everything a report says, computed once from a run: what the terminal, the files and the page all read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from evals import bands, reranking, searches, tables
from evals.baseline import Baseline
from evals.growth import Grown, band_quantiles, recalls
from evals.imported import Kept
from evals.losses import Loss, losses
from evals.metrics import Metric
from evals.parts import Near
from evals.questions import Key
from evals.report import overview
from evals.run import Run
from evals.savings import savings
from evals.sweep import LAWS, NEAR_LAWS, Figures, Setting, Stage, Sweep
from retrieval.settings import Settings

CUTOFF_STEPS = 100
LARGEST_POOL = 64


@dataclass(frozen=True)
class Contents:
    """A run's tables, bands, losses and sweeps, and what it is held against, if anything.

    Each is computed when first asked for and kept. metrics: further ones to have a table of, at every
    stage. grown: the states over grown corpora, where they were measured. near_rules: the near rankings without the
    cards' questions, where their vectors are at hand. file: the settings as their file has them, where the run was
    given others. kept: what was imported with the questions, whose grades the further metrics weigh.
    """

    run: Run
    baseline: Baseline | None = None
    metrics: tuple[Metric, ...] = ()
    grown: tuple[Grown, ...] = ()
    near_rules: Near | None = None
    file: Settings | None = None
    kept: Mapping[Key, Kept] = field(default_factory=dict)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """One row a pair and stage."""
        return tables.measures(self.run)

    @cached_property
    def points(self) -> list[bands.Point]:
        """The cosines of all bands."""
        return bands.points(self.run)

    @cached_property
    def losses(self) -> list[Loss]:
        """Every expected group that did not arrive."""
        return losses(self.run)

    @cached_property
    def sweep(self) -> Sweep:
        """Every setting at once."""
        settings = self.run.settings
        near_laws = max(NEAR_LAWS, settings.near_laws)
        sizes = (settings.retrieved_laws, settings.candidate_laws, settings.searched_candidate_laws)
        return Sweep.of(self.run, near_laws=near_laws, laws=max(LAWS, *sizes))

    @cached_property
    def saved_by(self) -> dict[tuple[str, str, tuple[str, ...]], str]:
        """For each group that the pool lost, by question, state and group, the changes that would bring it in."""
        found = {}
        for (at, group), several in savings(self.run, self.sweep).items():
            pair = self.run.pairs[at].pair
            found[pair.question, pair.state, pair.expected[group]] = "; ".join(map(str, several))
        return found

    @cached_property
    def verdict(self) -> str:
        """What the cutoff in force costs and keeps out, in a sentence."""
        return bands.verdict(self.points, self.run.settings.cutoff)

    @cached_property
    def over_cutoffs(self) -> pd.DataFrame:
        """Recall, precision and laws returned by the near search, the fused eight and the pool, as the cutoff moves."""
        of_pool = Setting.of_pool(self.run)
        cosines = [point.cosine for point in self.points]
        low, high = (min(cosines), max(cosines)) if cosines else (0.0, 1.0)
        between = (round(low + (high - low) * step / CUTOFF_STEPS, 4) for step in range(CUTOFF_STEPS + 1))
        steps = sorted({*between, self.run.settings.cutoff})
        rows = []
        for stage, laws in self._stages().items():
            curve = self.sweep.over_cutoffs(
                steps, near_laws=of_pool.near_laws, laws=laws, stage=stage, searched_laws=of_pool.searched_laws
            )
            rows += [{"near_enough": cutoff, "stage": stage, **_row(figures)} for cutoff, figures in curve]
        return pd.DataFrame(rows)

    @cached_property
    def expect_nothing_over_cutoffs(self) -> pd.DataFrame:
        """How often the near search returns nothing to a question that no law answers, as the cutoff moves."""
        rows = []
        for cutoff in sorted(set(self.over_cutoffs["near_enough"])):
            silence = self.sweep.expect_nothing(cutoff, self.run.settings.near_laws)
            if silence is not None:
                rows.append((cutoff, silence.pairs, silence.returned_nothing, silence.laws))
        return pd.DataFrame(rows, columns=["near_enough", "pairs", "returned nothing", "laws"])

    @cached_property
    def over_laws(self) -> pd.DataFrame:
        """The same for the fused result, as it is asked for 1 to 64 laws."""
        settings = self.run.settings
        curve = self.sweep.over_laws(
            range(1, LARGEST_POOL + 1), near_enough=settings.cutoff, near_laws=settings.near_laws
        )
        return pd.DataFrame([{"laws asked for": laws, **_row(figures)} for laws, figures in curve])

    @cached_property
    def over_near_laws(self) -> pd.DataFrame:
        """The pool's figures as the near search may return 0 to 32 laws."""
        of_pool = Setting.of_pool(self.run)
        curve = self.sweep.over_near_laws(
            range(33),
            near_enough=of_pool.near_enough,
            laws=of_pool.laws,
            stage="pool",
            searched_laws=of_pool.searched_laws,
        )
        return pd.DataFrame([{"near_laws": count, **_row(figures)} for count, figures in curve])

    def _stages(self) -> dict[Stage, int]:
        settings = self.run.settings
        return {"near": settings.near_laws, "fused": settings.retrieved_laws, "pool": settings.candidate_laws}

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of the report by its file's name."""
        return {
            "stages": tables.stage_means(self.measures),
            "by-kind": tables.stage_means(self.measures, ["kind"]),
            "by-state": tables.stage_means(self.measures, ["state"]),
            "by-language": tables.stage_means(self.measures, ["language"]),
            "by-topic": tables.stage_means(self.measures, ["topic"]),
            "by-tag": tables.by_tag(self.measures),
            "expect-nothing": tables.expect_nothing(self.measures),
            "bands": tables.band_quantiles(self.points),
            "bands-by": tables.bands_by(self.points),
            "overlap": tables.overlaps(self.points),
            "band-points": tables.band_points(self.points),
            "loss-reasons": tables.loss_reasons(self.losses),
            "losses-by": tables.losses_by(self.losses),
            "losses": tables.losses_table(self.losses, self.saved_by),
            "over-cutoffs": self.over_cutoffs,
            "expect-nothing-over-cutoffs": self.expect_nothing_over_cutoffs,
            "over-laws": self.over_laws,
            "over-near-laws": self.over_near_laws,
            "promises": tables.promises(self.points),
            "set": tables.what_the_set_holds(self.measures),
            "how-sure": overview.how_sure(self.measures),
            "cutoff-moves": overview.moves(self.run, self.sweep),
            "parts": overview.parts_table(self.run, self.near_rules),
            "what-shows": overview.what_shows(self.measures),
            "kind-by-stage": overview.kind_by_stage(self.measures),
            "state-by-topic": overview.state_by_topic(self.measures),
            "cutoff-by-pool": overview.cutoff_by_pool(self.run, self.sweep),
            **{name: table(self.run) for name, table in {**reranking.TABLES, **searches.TABLES}.items()},
            **({"growth": recalls(self.grown), "growth-bands": band_quantiles(self.grown)} if self.grown else {}),
            **({"metrics": tables.metric_means(self.run, self.metrics, self.kept)} if self.metrics else {}),
        }


def _row(figures: Figures) -> dict[str, object]:
    return {name.replace("_", " "): value for name, value in vars(figures).items()}
