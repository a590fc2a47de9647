"""Compiles LLVM IR to callable machine code, cached on disk by a hash of all its inputs."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

LEVEL = 2
"""LLVM's optimisation level in the choice of instructions: 3 took longer and ran no faster."""

AT_ONCE = 0
"""The level, without PASSES, that compiles in a quarter of the time: for what may soon be over."""

LARGE = 100_000
"""Characters of text that take LEVEL about half a second; less is not worth two ways."""

PASSES = ("sroa", "simplify_cfg", "instruction_combine")
"""What is done before. All that LLVM does at this level takes thrice as long to compile, and the
code of `expand` is no more than a fifteenth faster for it: the text has little to take away."""


def cache_folder() -> Path:
    """The folder of cached machine code: INSYNC_CACHE, else the user's cache folder."""
    chosen = os.environ.get("INSYNC_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "insync"


@dataclass
class MachineCode:
    """Machine code in memory. `addresses` by function name; alive as long as this object."""

    addresses: dict[str, int]
    from_cache: bool
    key: str
    level: int = LEVEL
    _engine: Any = field(repr=False, default=None)


def code_key(text: str, level: int = LEVEL) -> str:
    """A hash of the IR text, the compiler's version and the processor: no stale code runs."""
    features = llvm.get_host_cpu_features().flatten()
    passes = PASSES if level else ()
    how = " ".join((llvmlite.__version__, str(level), *passes))
    parts = (how, llvm.get_host_cpu_name(), features, text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def build(
    text: str, functions: tuple[str, ...], cache: Path | None = None, at_once: bool = False
) -> MachineCode:
    """Compiles the text, or takes it from the cache; raises RuntimeError for text LLVM refuses.

    `at_once`: if the text is LARGE and its best code is not cached, builds slower code, which is
    ready in a quarter of the time.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    folder = (cache or cache_folder()) / "native"
    level, key = LEVEL, code_key(text)
    code = _read(folder / f"{key}.o")
    if code is None and at_once and len(text) >= LARGE:
        level, key = AT_ONCE, code_key(text, AT_ONCE)
        code = _read(folder / f"{key}.o")
    kept = folder / f"{key}.o"
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
    )
    from_cache = code is not None
    if code is None:
        code = _compile(text, target, PASSES if level else ())
        _write(kept, code)
    # An engine needs a module of its own; the code comes as an object file beside it.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    addresses = {name: engine.get_function_address(name) for name in functions}
    missing = sorted(name for name, address in addresses.items() if not address)
    if missing:
        raise RuntimeError(f"{kept} lacks {', '.join(missing)}: remove it and try again")
    return MachineCode(addresses, from_cache, key, level, engine)


def _compile(text: str, target: Any, names: tuple[str, ...]) -> bytes:
    module = llvm.parse_assembly(text)
    module.verify()
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)
    code: bytes = target.emit_object(module)
    return code


SEAL = 32
"""Bytes of the SHA-256 in front of the code: a damaged file is compiled again, not run."""


def _read(path: Path) -> bytes | None:
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    seal, code = whole[:SEAL], whole[SEAL:]
    return code if code and hashlib.sha256(code).digest() == seal else None


def _write(path: Path, code: bytes) -> None:
    """Keeps the code; a cache that cannot be written only costs time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError:
        return
