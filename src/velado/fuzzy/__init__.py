"""Fuzzy sets and partitions: overlapping linguistic values instead of crisp intervals.

After the work of the Universidad de Oviedo on anonymity with fuzzy sets.
"""
