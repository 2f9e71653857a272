"""Records: the append-only files of a data folder (plans, shards, derived, retractions), whole or absent: the truth."""

from swingby.data.provenance import provenance
from swingby.data.records.headers import BatchNote, Plan, ShardHeader, plan_table
from swingby.data.records.records import Records
from swingby.model.columns import parameter_schema

__all__ = ["BatchNote", "Plan", "Records", "ShardHeader", "parameter_schema", "plan_table", "provenance"]
