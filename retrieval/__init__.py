"""Question to laws: the pipeline that is measured, stage by stage. Imports nothing from `evals`."""

from retrieval.corpus import Law, load_corpus, load_laws
from retrieval.fuse import fuse, retrieve
from retrieval.pipeline import Pipeline, Ranking, Scoring, Trace
from retrieval.rerank import choose_laws, haiku_reranker, pool_size
from retrieval.settings import Settings, load_settings
from retrieval.vectors import Hit, VectorIndex, embedding_text, nearest
from retrieval.words import bm25, words

__all__ = [
    "Hit",
    "Law",
    "Pipeline",
    "Ranking",
    "Scoring",
    "Settings",
    "Trace",
    "VectorIndex",
    "bm25",
    "choose_laws",
    "embedding_text",
    "fuse",
    "haiku_reranker",
    "load_corpus",
    "load_laws",
    "load_settings",
    "nearest",
    "pool_size",
    "retrieve",
    "words",
]
