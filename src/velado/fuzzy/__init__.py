"""Fuzzy sets and partitions: overlapping linguistic values instead of crisp intervals.

After the work of the Universidad de Oviedo on anonymity with fuzzy sets.
"""

from velado.fuzzy.c_means import CMeans
from velado.fuzzy.cardinality import FuzzyCardinality, cardinality, sigma_count, value_cardinality
from velado.fuzzy.clustering import Clusterer, Clustering
from velado.fuzzy.global_recode import GlobalRecode, Intervals
from velado.fuzzy.gustafson_kessel import GustafsonKessel
from velado.fuzzy.histograms import column_histograms, record_histograms
from velado.fuzzy.k_means import KMeans
from velado.fuzzy.labels import set_labels
from velado.fuzzy.measures import (
    AGGREGATIONS,
    closeness,
    distributions,
    diversity,
    largest_q,
    posterior,
    q_anonymity,
    surest_belief,
)
from velado.fuzzy.memberships import PartitionCheck, check_partition, crisp, product, strongest
from velado.fuzzy.sets import FuzzyPartition, FuzzySet

__all__ = [
    "AGGREGATIONS",
    "CMeans",
    "Clusterer",
    "Clustering",
    "FuzzyCardinality",
    "FuzzyPartition",
    "FuzzySet",
    "GlobalRecode",
    "GustafsonKessel",
    "Intervals",
    "KMeans",
    "PartitionCheck",
    "cardinality",
    "check_partition",
    "closeness",
    "column_histograms",
    "crisp",
    "distributions",
    "diversity",
    "largest_q",
    "posterior",
    "product",
    "q_anonymity",
    "record_histograms",
    "set_labels",
    "sigma_count",
    "strongest",
    "surest_belief",
    "value_cardinality",
]
