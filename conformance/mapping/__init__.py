"""The maps from implementation to model, as data, one file a system; `replication` is the default.

One step of the implementation is one step of the model. Every exception is a row with its reason.
"""

from conformance.mapping.replication import (
    AS_RELEASED,
    MAP,
    ROWS,
    STEPS_OF,
    UNOBSERVED,
    abstract,
)
from conformance.mapping.rows import (
    Facts,
    Row,
    Stepped,
    SystemMap,
    implementation_arguments,
    model_arguments,
)

__all__ = [
    "AS_RELEASED",
    "MAP",
    "ROWS",
    "STEPS_OF",
    "UNOBSERVED",
    "Facts",
    "Row",
    "Stepped",
    "SystemMap",
    "abstract",
    "implementation_arguments",
    "model_arguments",
]
