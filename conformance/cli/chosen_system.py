"""The system that a command line names, with version, switches and bounds."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.cli.common import WrongUse, unknown
from model.faults import fault_settings
from model.former_names import claim_now, switch_now
from model.language import ProtocolError, RecordedSystem, System
from model.systems import SYSTEMS
from model.systems import system as system_by_name
from model.versions import SWITCHES

if TYPE_CHECKING:
    from model.bugs.known import BugWithBounds

MOST = 999_999
"""No bound is larger; exploration would be out of memory long before."""


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Turns errors of the model, whose messages name the correction, into wrong use."""
    try:
        yield
    except ProtocolError as error:
        raise WrongUse(str(error)) from error


def system_named(name: str) -> System:
    """A system by name; an unknown one is wrong use, answered with the nearest."""
    with refusals():
        return system_by_name(name)


@dataclass(frozen=True)
class Variant:
    """The values of --version, --set, --without and --fault, as typed."""

    version: str | None
    settings: tuple[str, ...]
    without: tuple[str, ...]
    faults: tuple[str, ...] = ()

    def recorded(self, system: System) -> RecordedSystem:
        """The system under the chosen switches; WrongUse for unknown switches."""
        if self.version == "":
            raise unknown(f"version of {system.name}", "", system.versions)
        with refusals():
            switches = system.version(self.version).switches
            return system.recorded(self.version, self._changed(system, switches))

    def _changed(self, system: System, switches: Mapping[str, object]) -> dict[str, object]:
        changed: dict[str, object] = {}
        for name in map(switch_now, self.without):
            _refuse_unknown_switch(system, name, switches)
            changed[name] = _before_the_fix(name)
        for text in self.settings:
            name, equals, value = text.partition("=")
            name = switch_now(name)
            _refuse_unknown_switch(system, name, switches)
            if not equals or not value:
                example = f"{name}={SWITCHES[name].values[0]}"
                raise WrongUse(f"--set {text}: write SWITCH=VALUE, such as --set {example.lower()}")
            read = _value(name, value)
            if name in changed and changed[name] != read:
                raise WrongUse(f"--set {text}: {name} is given twice; say it once")
            changed[name] = read
        for fault in self.faults:
            for name, meant in fault_settings(system, fault).switches.items():
                if changed.get(name, meant) != meant:
                    raise WrongUse(
                        f"--fault {fault} is {name}={str(meant).lower()}, and the line says "
                        f"{name}={str(changed[name]).lower()}; leave one of them out"
                    )
                changed[name] = meant
        return changed


def _refuse_unknown_switch(system: System, name: str, switches: Mapping[str, object]) -> None:
    if name in switches and name not in SWITCHES:
        raise WrongUse(
            f"the {name} of {system.name} is chosen by its version; write --version "
            f"{system.default_version} (one of: {', '.join(system.versions)})"
        )
    if not set(switches) & set(SWITCHES):
        raise WrongUse(
            f"{system.name} has no switch '{name}', nor any other; choose a version of it: "
            f"--version {system.default_version} (one of: {', '.join(system.versions)})"
        )
    if name not in switches:
        users = [other.name for other in SYSTEMS.values() if name in other.switches]
        also = f" ({name} is a switch of {', '.join(users)})" if users else ""
        refusal = unknown(f"switch of {system.name}", name, set(switches) & set(SWITCHES))
        raise WrongUse(refusal.message + also)


def _before_the_fix(name: str) -> object:
    switch = SWITCHES[name]
    if set(switch.values) != {False, True}:
        shown = ", ".join(map(str, switch.values))
        raise WrongUse(
            f"--without {name}: {name} is one of {shown}; "
            f"write which: --set {name}={switch.values[0]}"
        )
    return switch.values[0]


def _value(name: str, text: str) -> object:
    by_text = {str(value).lower(): value for value in SWITCHES[name].values}
    if text.lower() not in by_text:
        raise unknown(f"value of {name}", text, by_text)
    return by_text[text.lower()]


@dataclass(frozen=True)
class Size:
    """--brokers and --bound as typed, and --fault, which needs a bound that allows it."""

    brokers: str | None
    bounds: tuple[str, ...]
    faults: tuple[str, ...] = ()

    def limits(self, system: System) -> dict[str, int]:
        """Every bound of the system; WrongUse for unknown names and senseless numbers."""
        given: dict[str, int] = {}
        named = [("--brokers", "brokers", self.brokers)] if self.brokers is not None else []
        named += [("--bound", *_pair(text, system)) for text in self.bounds]
        for option, name, text in named:
            number = _number(option, name, text or "", system)
            if given.get(name, number) != number:
                raise WrongUse(f"the bound {name} is given as {given[name]} and as {number}")
            given[name] = number
        with refusals():
            limits = system.limits(given)
            return {**limits, **self._room(system, limits, given)}

    def showing(
        self, recorded: RecordedSystem, claim: str
    ) -> tuple[dict[str, int], BugWithBounds | None]:
        """Every bound, and the historic bug for which a default was raised, if one was.

        A version that is known for breaking the claim gets the bounds in which it does, but for
        those that the line names.
        """
        from model.bugs.known import known_for

        limits = self.limits(recorded.system)
        known = known_for(recorded, claim)
        if known is None:
            return limits, None
        named = {text.partition("=")[0] for text in self.bounds}
        raised = {
            name: number
            for name, number in known.raised.items()
            if name not in named and limits.get(name, number) < number
        }
        return {**limits, **raised}, known._replace(raised=raised) if raised else None

    def _room(
        self, system: System, limits: Mapping[str, int], given: Mapping[str, int]
    ) -> dict[str, int]:
        """The bounds that are too small for the faults that were named."""
        needed = [
            (fault, name, least)
            for fault in self.faults
            for name, least in fault_settings(system, fault).bounds.items()
            if limits.get(name, least) < least
        ]
        for fault, name, least in needed:
            if name in given:
                raise WrongUse(
                    f"--bound {name}={given[name]} leaves no room for --fault {fault}; "
                    f"write --bound {name}={least}, or leave one of them out"
                )
        return {name: least for _, name, least in needed}


def _pair(text: str, system: System) -> tuple[str, str]:
    name, equals, number = text.partition("=")
    if not equals or not name:
        known = name if name in system.bounds else next(iter(system.bounds))
        raise WrongUse(f"--bound {text}: write NAME=N, such as --bound {smallest(system, known)}")
    return name, number


def _number(option: str, name: str, text: str, system: System) -> int:
    if name not in system.bounds:
        raise unknown(f"bound of {system.name}", name, system.bounds)
    shown = f"--brokers {text}" if option == "--brokers" else f"--bound {name}={text}"
    if not re.fullmatch(r"-?[0-9]+", text):
        raise WrongUse(
            f"{shown}: '{text}' is not a whole number; the smallest that makes sense is "
            f"{smallest(system, name)} ({system.bounds[name].what})"
        )
    if len(text) > len(str(MOST)):
        raise WrongUse(f"{shown}: no bound goes beyond {MOST}")
    return int(text)


def smallest(system: System, name: str) -> str:
    """`log=1`: the smallest bound that makes sense."""
    return f"{name}={system.bounds[name].least}"


def listed(bounds: Mapping[str, int]) -> str:
    """`brokers=3, log=2`."""
    return ", ".join(f"{name}={number}" for name, number in bounds.items())


def ruled_out(system: System, bounds: Mapping[str, int]) -> list[str]:
    """The bounds of 0: what cannot happen at all within them."""
    return [
        name for name, number in bounds.items() if number == 0 and not system.bounds[name].least
    ]


def ruled_out_in_words(system: System, bounds: Mapping[str, int]) -> list[str]:
    """A line that names what the bounds rule out, and how to allow it; none if they do not."""
    names = ruled_out(system, bounds)
    if not names:
        return []
    zeros = ", ".join(f"{name}=0 ({system.bounds[name].what})" for name in names)
    return [f"ruled out by bounds of 0: {zeros}; to allow one: --bound {names[0]}=1"]


def described(recorded: RecordedSystem) -> str:
    """`election 2.3 without zk_writes_fenced`, as the first line of a report."""
    words = [recorded.system.name, recorded.version]
    for name, value in sorted(recorded.without.items()):
        words += ["without", name] if value is False else ["with", f"{name}={value}"]
    return " ".join(words)


def systems_with(claim: str) -> list[str]:
    """The systems that have a claim of this name, whatever the version."""
    return [one.name for one in SYSTEMS.values() if any(own.name == claim for own in one.claims)]


def claims_named(recorded: RecordedSystem, names: Iterable[str]) -> list[str]:
    """The claim names, each once; WrongUse lists the system's claims for an unknown one."""
    found = list(dict.fromkeys(claim_now(name, recorded.system.name) for name in names))
    for name in found:
        if name not in recorded.claims:
            elsewhere = systems_with(name)
            also = f" ({name} is a claim of {', '.join(elsewhere)})" if elsewhere else ""
            refusal = unknown(f"claim of {recorded.system.name}", name, recorded.claims)
            raise WrongUse(refusal.message + also)
    return found
