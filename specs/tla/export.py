"""Exports one system under one version's switches as a module and its configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from model.language import ProtocolError, RecordedSystem
from specs.runs import replay_command
from specs.tla.module import Module


@dataclass(frozen=True)
class Export:
    """Two texts: `NAME.tla` and `NAME.cfg`."""

    name: str
    module: str
    configuration: str
    constants: dict[str, str]
    invariants: tuple[str, ...]


def exported(
    recorded: RecordedSystem, bounds: Mapping[str, int], *, symmetry: bool = False
) -> Export:
    """The TLA+ module and its configuration at these bounds (`system.limits(...)`).

    With `symmetry`, brokers are model values that TLC treats as symmetric: fewer states, the same
    verdicts. Raises ProtocolError if the system distinguishes brokers.
    """
    name = module_name(recorded)
    command = replay_command(
        "export tla", recorded.system.name, recorded.version, recorded.without, bounds, ""
    ).rstrip()
    command += " --symmetry" if symmetry else ""
    module = Module(name, recorded, bounds, command)
    if symmetry and module.symmetric is not None:
        raise ProtocolError(
            f"{recorded.system.name} cannot be explored up to symmetry: {module.symmetric}; "
            "leave out --symmetry"
        )
    constants = _constants(module, bounds, symmetry)
    return Export(
        name,
        module.text,
        _configuration(module, constants, symmetry, command),
        constants,
        tuple(module.invariants),
    )


def module_name(recorded: RecordedSystem) -> str:
    """`election_2_3_without_zk_writes_fenced`."""
    words = [recorded.system.name, recorded.version]
    for switch, value in sorted(recorded.without.items()):
        words += ["without", switch] if value is False else ["with", switch, str(value)]
    return re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words))


def _constants(module: Module, bounds: Mapping[str, int], symmetry: bool) -> dict[str, str]:
    values: dict[str, str] = {}
    for bound in bounds:
        constant = module.names.constants.get(bound)
        if constant is None:
            continue
        if bound in module.names.enumerations:
            start = constant[0].lower() if symmetry else ""
            members = ", ".join(f"{start}{number}" for number in range(1, bounds[bound] + 1))
            values[constant] = "{" + members + "}"
        else:
            values[constant] = str(bounds[bound])
    if module.names.none_used:
        values["None"] = "None"
    return values


def _configuration(
    module: Module, constants: Mapping[str, str], symmetry: bool, command: str
) -> str:
    lines = [
        f"\\* The bounds and claims of {module.name}.tla.",
        f"\\* Written by `{command}`.",
        "",
        "SPECIFICATION Spec",
        "",
        "\\* A state without a step is no error here: the bounds end every run.",
        "CHECK_DEADLOCK FALSE",
        "",
        "CONSTANTS",
        *(f"    {name} = {value}" for name, value in constants.items()),
    ]
    if symmetry:
        lines += ["", "SYMMETRY Symmetry"]
    lines += [
        "",
        "\\* TypeOK, and every claim that shall always hold, also one that is known to break: TLC",
        "\\* stops there. To leave a claim out put \\* before its line; or run TLC with -continue,",
        "\\* to see the whole state space. To be shown that something is reachable, add a line",
        "\\* never_... for a claim that shall sometimes hold: TLC breaks it by a run that does.",
        "INVARIANTS",
        "    TypeOK",
        *(f"    {name}" for name in module.invariants),
    ]
    if module.of_steps:
        lines += ["", "\\* Claims about every step, from one state to the next.", "PROPERTIES"]
        lines += [f"    {name}" for name in module.of_steps]
    if module.in_the_end:
        lines += [
            "",
            "\\* What happens in the end is not checked unless you take \\* away. Beyond a",
            "\\* bound no step is possible here: mind that fairness asks for none there.",
            *(f"\\* PROPERTY {name}" for name in module.in_the_end),
        ]
    return "\n".join(lines) + "\n"
