"""Expected laws that deserve a second look: page rows, laws no search reaches, laws with an unjudged neighbour."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from evals.lint.checked import Checked
from evals.lint.doubts import Doubt, about, by_ask, doubt, expected_ids, listed, one_ask_each
from evals.questions import Pair
from evals.run import Run, answerable
from retrieval.pipeline import EmbedTexts
from retrieval.vectors import Floats, VectorIndex, best_first, embedding_text

# Three times the widest pool in use: what lies deeper by meaning is beyond any setting worth trying.
NEAR_DEPTH = 100

# One in 10,000 of the pairs of laws of one state is nearer than this, in the corpus that comes with the project. Most
# laws so near an expected one are its siblings; the first that answered as well stood at 0.963 (e5-small), and each
# hundredth below triples the list. A cosine belongs to a model: one without a number here has nothing listed.
VERY_NEAR: Mapping[str, float] = {"e5-small": 0.96, "use-multilingual": 0.87}


def page_rows(checked: Checked) -> Iterable[Doubt]:
    """Expected groups of nothing but page rows, once for each need and state.

    A group that holds a rule too can be reached by words.
    """
    pages = {state: {law.id for law in laws if law.is_page_row} for state, laws in checked.corpus.items()}
    for pair in one_ask_each(checked.pairs):
        rows = dict.fromkeys(each for group in pair.expected if pages[pair.state].issuperset(group) for each in group)
        if rows:
            what = f"{pair.need}: {listed(rows)} expected alone, and words never reach a page row"
            what += "; put a rule that says the same into the group, or accept that only meaning finds it"
            yield doubt("page row", checked.expected_at(pair), what)


def missed(run: Run) -> Iterable[Doubt]:
    """Asks with an expected group that no search reaches at any depth.

    That is: no law of the group shares a word with the question (or with a search fused beside it), and none is among
    the nearest 100 of its state, whatever the cutoff. Where a state has no more laws than that, only a group without
    any vector is out of reach by meaning.
    """
    traces = {each.pair.key: each.trace for each in run.pairs}
    for asked in by_ask(each.pair for each in answerable(run)):
        unreached: list[str] = []
        for pair in asked:
            scorings = traces[pair.key].scorings
            for group in pair.expected:
                positions = [run.positions[pair.state][each] for each in group]
                worded = any(scoring.words.place(positions) for scoring in scorings)
                near = min((place for scoring in scorings if (place := scoring.near.place(positions))), default=None)
                if not worded and (near is None or near > NEAR_DEPTH):
                    depth = "no vector" if near is None else f"place {near} by meaning"
                    unreached.append(f"{' or '.join(group)} (no shared word, {depth})")
        if unreached:
            what = f"no search reaches {listed(unreached)}; see whether the label is right, then the ask"
            yield about(asked[0], "missed", what)


def not_judged(checked: Checked, embed: EmbedTexts, very_near: float) -> Iterable[Doubt]:
    """Laws with a cosine of `very_near` or more to an expected law that are neither expected nor accepted.

    Once for each need and state, the nearest first, each with the expected law it is nearest to. A law without text
    is near nothing.
    """
    needs = one_ask_each(pair for pair in checked.pairs if pair.expected)
    for state, laws in checked.corpus.items():
        of_state = [pair for pair in needs if pair.state == state]
        texts = {law.id: embedding_text(law) for law in laws if embedding_text(law)}
        if not of_state or not texts:
            continue
        vectors = embed("passage", list(texts.values()))
        cosines = np.nan_to_num(VectorIndex(list(texts), vectors).cosines(vectors), nan=-1.0)
        for pair in of_state:
            near = _unjudged(pair, list(texts), cosines, very_near)
            if near:
                what = f"{pair.need}: {listed(near)}, neither expected nor accepted; accept it if it answers too"
                yield doubt("not judged", checked.expected_at(pair), what)


def _unjudged(pair: Pair, ids: Sequence[str], cosines: Floats, very_near: float) -> list[str]:
    """What is said of each unjudged neighbour; `cosines` (n, n) are between the laws of `ids`."""
    expected = [at for at, each in enumerate(ids) if each in expected_ids(pair)]
    if not expected:
        return []
    best, nearest = cosines[expected].max(axis=0), cosines[expected].argmax(axis=0)
    return [
        f"{ids[at]} (cosine {best[at]:.3f} to {ids[expected[nearest[at]]]})"
        for at in best_first(best)
        if best[at] >= very_near and ids[at] not in pair.relevant
    ]
