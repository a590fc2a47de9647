"""Obligations as SMT-LIB files that anybody's solver can answer, with a manifest of them.

A file is one question and needs nothing else: `unsat` means that this part of the obligation
holds. An obligation holds if all of its files do. What the frame rule settles has no file, and is
listed with its reason; that rule, the splitter and the lowering are what these files do not check.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import z3

from specs.invariants import Proof
from specs.prover import Obligation, ProofResult
from specs.solvers import Question

FORMAT = "insync.smt2/1"
MANIFEST = "manifest.json"


class Smt2Folder:
    """A folder that becomes visible under its name only when it is whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._part = folder.with_name(f".{folder.name}.part")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileExistsError(f"{folder} is there already, and not empty")
        shutil.rmtree(self._part, ignore_errors=True)
        self._part.mkdir(parents=True)
        self._claim = ""
        self._systems: dict[str, str] = {}
        self._files: dict[tuple[str, str, str], list[dict[str, str]]] = {}
        self._proofs: list[ProofResult] = []

    def of(self, proof: Proof) -> None:
        """What follows is of this proof."""
        self._claim = self._label(proof)

    def _label(self, proof: Proof) -> str:
        """A claim's name; of a further system that it is proved of, with the system's."""
        first = self._systems.setdefault(proof.claim, proof.system)
        return proof.claim if first == proof.system else f"{proof.claim}_of_{proof.system}"

    def add(self, step: str, invariant: str, question: Question) -> None:
        """Writes one question."""
        files = self._files.setdefault((self._claim, step, invariant), [])
        words = re.sub(r"\W+", "_", f"{step} {invariant}")
        name = f"{self._claim}/{words}_{len(files) + 1}.smt2"
        text = question.smt2().encode()
        path = self._part / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text)
        files.append({"file": name, "sha256": hashlib.sha256(text).hexdigest()})

    def proved(self, result: ProofResult) -> None:
        """A proof is through, one way or the other."""
        self._proofs.append(result)

    def close(self) -> Path:
        """Writes the manifest and gives the folder its name."""
        manifest = {
            "format": FORMAT,
            "z3": z3.get_version_string(),
            "expected": "unsat",
            "claims": [self._of_proof(result) for result in self._proofs],
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        (self._part / MANIFEST).write_text(text, encoding="utf-8")
        if self.folder.exists():
            self.folder.rmdir()
        self._part.rename(self.folder)
        return self.folder

    def discard(self) -> None:
        """Leaves nothing behind."""
        shutil.rmtree(self._part, ignore_errors=True)

    def _of_proof(self, result: ProofResult) -> dict[str, Any]:
        return {
            "claim": result.proof.claim,
            "system": result.proof.system,
            "version": result.recorded.version,
            "without": result.recorded.without,
            "brokers": result.brokers or "any",
            "verdict": result.verdict.value,
            "obligations": [
                self._of_obligation(self._label(result.proof), one) for one in result.obligations
            ],
        }

    def _of_obligation(self, claim: str, one: Obligation) -> dict[str, Any]:
        return {
            "step": one.step,
            "invariant": one.invariant,
            "result": dict(one.answers),
            "files": self._files.get((claim, one.step, one.invariant), []),
        }
