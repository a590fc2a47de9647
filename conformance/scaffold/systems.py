"""A new system: state, steps and claims that can be explored at once, and its table entry."""

from __future__ import annotations

import re
from string import Template

from conformance.scaffold.edits import (
    Edits,
    NotPossible,
    checked_name,
    sorted_imports,
    with_imports,
)

_INIT = Template('''\
"""$heading."""

from model.$name.claims import CLAIMS
from model.$name.state import STATE
from model.$name.steps import broker_acquires, broker_releases
from model.language import Bound, System
from model.versions import SWITCHES, presets


def initial(new):
    """Nobody holds it."""


_SWITCHES: tuple[str, ...] = ()

SYSTEM = System(
    name="$name",
    about="$about",
    state=STATE,
    initial=initial,
    transitions=(broker_acquires, broker_releases),
    claims=CLAIMS,
    versions=presets(_SWITCHES),
    default_version="2.3",
    bounds={"brokers": Bound(2, 1, "brokers that take part")},
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)
''')

_STATE = Template('''\
"""What there is: who holds it, as each broker believes."""

from model.language import BOOL, Enumeration, Record, per

BROKERS = Enumeration("broker", "brokers")

STATE = Record(
    holds=per(BROKERS, BOOL),   # the broker believes that it holds it
)
''')

_STEPS = Template('''\
"""What brokers do; one outcome a function, one fact a `require`, then the writes."""

from model.$name.state import BROKERS
from model.language import not_, require, some, transition


@transition(broker=BROKERS)
def broker_acquires(now, new, broker):
    """A broker takes what nobody holds."""
    require(not_(some(BROKERS, lambda other: now.holds[other])), "nobody holds it")
    new.holds[broker] = True


@transition(broker=BROKERS)
def broker_releases(now, new, broker):
    """Whoever holds it gives it back."""
    require(now.holds[broker], "the broker holds it")
    new.holds[broker] = False
''')

_CLAIMS = Template('''\
"""What is promised. A claim has a companion that must be reachable, or it says nothing."""

from model.$name.state import BROKERS
from model.language import all_of, always, every, implies, some, sometimes


@always("no two brokers hold it", companion="somebody_holds_it")
def one_holder(now):
    return every(BROKERS, lambda a: every(BROKERS, lambda b: implies(
        all_of(now.holds[a], now.holds[b]), a == b)))


@sometimes("a broker holds it")
def somebody_holds_it(now):
    return some(BROKERS, lambda broker: now.holds[broker])


CLAIMS = (one_holder, somebody_holds_it)
''')

_TEST = Template('''\
"""The system `$name`: every state of its default bounds."""

from __future__ import annotations

import pytest

from model.systems import system
from specs.explorer import explore
from specs.verdict import Verdict


@pytest.mark.parametrize("claim", ["one_holder"])
def test_a_claim_holds_in_every_state(claim: str):
    chosen = system("$name")

    found = explore(chosen.recorded(), chosen.limits({}), [claim], engine="python")

    assert found.complete
    assert found.claims[claim].verdict is Verdict.HOLDS
''')

_TABLE = re.compile(r"for system in \(([^)]*)\)", re.DOTALL)


_AS_THE_OTHERS = (
    ("model/cluster,", "model/{0},"),  # for ruff, a claim's sentence is its docstring, and more
    ('"model/cluster/*.py",', ' "model/{0}/*.py",'),  # laid out by hand
    ('"model.cluster.*",', ' "model.{0}.*",'),  # for mypy, transitions run over expressions
)
"""Where `pyproject.toml` exempts a system, and what follows there for another one."""


def new_system(edits: Edits, name: str, about: str) -> list[str]:
    """Adds `model/NAME`, its test, and its row in `model/systems.py`; returns what to do next."""
    checked_name("system", name)
    table = edits.read("model/systems.py")
    if f"from model.{name} import" in table:
        raise NotPossible(f"{name} is a system already; choose another name")
    said = about.rstrip(".").replace('"', "'")
    texts = {"name": name, "about": said, "heading": said[:1].upper() + said[1:]}
    for path, template in {
        f"model/{name}/__init__.py": _INIT,
        f"model/{name}/state.py": _STATE,
        f"model/{name}/steps.py": _STEPS,
        f"model/{name}/claims.py": _CLAIMS,
        f"tests/{name}/test_{name}.py": _TEST,
    }.items():
        edits.create(path, sorted_imports(template.substitute(texts)))
    constant = name.upper()
    import_of = f"SYSTEM as {constant}"
    table = with_imports(table, f"model.{name}", [import_of])
    found = _TABLE.search(table)
    if found is None:
        raise NotPossible("model/systems.py has no table `for system in (...)` any more")
    members = [one.strip() for one in found[1].split(",") if one.strip()]
    rows = "".join(f"        {one},\n" for one in [*members, constant])
    edits.put("model/systems.py", _TABLE.sub(f"for system in (\n{rows}    )", table, count=1))
    project = edits.read("pyproject.toml")
    for known, added in _AS_THE_OTHERS:
        if known not in project:
            raise NotPossible(f"pyproject.toml exempts no systems by {known} any more")
        project = project.replace(known, known + added.format(name))
    edits.texts["pyproject.toml"] = project
    return [
        f"insync explore {name}",
        f"insync test tests/{name}",
        f"edit model/{name}/steps.py; insync explore {name} --coverage says what never happens",
    ]
