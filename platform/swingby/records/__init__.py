"""Records: the append-only files of a data folder (plans, shards, derived, retractions), whole or absent: the truth."""

from swingby.columns import parameter_schema
from swingby.headers import BatchNote, Plan, ShardHeader, plan_table
from swingby.provenance import provenance
from swingby.records.records import Records

__all__ = ["BatchNote", "Plan", "Records", "ShardHeader", "parameter_schema", "plan_table", "provenance"]
