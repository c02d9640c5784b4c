"""Spark: tables, files and DataFrames of a cluster."""

from velado.tables.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
