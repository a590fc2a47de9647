"""Writes obligations as SMT-LIB files for any solver, with a manifest.

Each file is one self-contained question: `unsat` means that this part of the obligation holds. An
obligation holds if all of its files are `unsat`. An obligation that the frame rule settles has no
file and is listed with its reason. The files do not check that rule, the splitter or the lowering.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import z3

from model.language import RecordedSystem
from specs.invariants import Proof
from specs.lowering.z3_code import Z3Code
from specs.obligations import Obligation, conjuncts
from specs.prover import DOMAINS, ProofResult
from specs.solvers import SolverQuery, has_cvc5, proof_of_cvc5

FORMAT = "insync.smt2/1"
MANIFEST = "manifest.json"
PAGE = "index.md"
SUMS = "SHA256SUMS"


class Smt2Folder:
    """A folder that becomes visible under its name only when it is complete.

    As a certificate it has a page that says how to check it without this project's code. If cvc5
    is installed, cvc5's answer and proof are written beside each question. `checker` is the command
    of a proof checker, which is run on these proofs.
    """

    def __init__(
        self, folder: Path, certificate: bool = False, checker: Sequence[str] = ()
    ) -> None:
        self.folder, self.certificate = folder, certificate
        self.by_cvc5 = certificate and has_cvc5()
        self.unproved: list[str] = []
        """Files of a certificate to which cvc5 did not answer `unsat`."""
        self.checker = tuple(checker)
        self.checked = 0
        self.refused: dict[str, str] = {}
        """Proofs that the checker did not find correct, each with what it said."""
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
        """Names the proof to which the questions that follow belong."""
        self._claim = self._label(proof)

    def _label(self, proof: Proof) -> str:
        """A claim's name; of a further system that it is proved of, with the system's."""
        first = self._systems.setdefault(proof.claim, proof.system)
        return proof.claim if first == proof.system else f"{proof.claim}_of_{proof.system}"

    def add(self, step: str, invariant: str, question: SolverQuery) -> None:
        """Writes one question."""
        files = self._files.setdefault((self._claim, step, invariant), [])
        words = re.sub(r"\W+", "_", f"{step} {invariant}")
        name = f"{self._claim}/{words}_{len(files) + 1}.smt2"
        text = question.smt2().encode()
        path = self._part / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text)
        files.append({"file": name, "sha256": hashlib.sha256(text).hexdigest()})
        if self.by_cvc5:
            self._second(path, files[-1], text.decode())

    def _second(self, path: Path, entry: dict[str, str], text: str) -> None:
        """cvc5's answer and proof for the question in the file."""
        answer, proof = proof_of_cvc5(text)
        entry["cvc5"] = answer
        if proof is None:
            self.unproved.append(entry["file"])
            return
        plain, proved = plain_question(text), proof_without_declarations(proof)
        for suffix, what in ((".cpc.gz", proved), (".plain.smt2.gz", plain)):
            path.with_suffix(suffix).write_bytes(gzip.compress(what.encode(), mtime=0))
        entry["proof"] = entry["file"].removesuffix(".smt2") + ".cpc.gz"
        if self.checker:
            self._check(entry, plain, proved)

    def _check(self, entry: dict[str, str], plain: str, proved: str) -> None:
        """What the checker says of a proof: that it is one, of the question's assertions."""
        with tempfile.TemporaryDirectory() as folder:
            question = Path(folder) / "question.smt2"
            question.write_text(plain, encoding="utf-8")
            # From a file that is named Ethos would read the proof without regard to the question.
            command = [*self.checker, f"--reference={question}", REFUTES]
            done = subprocess.run(command, input=proved, capture_output=True, text=True,
                                  check=False)  # fmt: skip
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        entry["checked"] = CORRECT if said[-1:] == [CORRECT] and not done.returncode else "refused"
        if entry["checked"] == CORRECT:
            self.checked += 1
        else:
            self.refused[entry["proof"]] = said[-1] if said else f"exit code {done.returncode}"

    def proved(self, result: ProofResult) -> None:
        """Records the result of a finished proof, whatever its verdict."""
        self._proofs.append(result)

    def close(self) -> Path:
        """Writes the manifest and gives the folder its name."""
        manifest = {
            "format": FORMAT,
            "z3": z3.get_version_string(),
            **({"cvc5": version("cvc5")} if self.by_cvc5 else {}),
            "expected": "unsat",
            "claims": [self._of_proof(result) for result in self._proofs],
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        (self._part / MANIFEST).write_text(text, encoding="utf-8")
        if self.certificate:
            (self._part / PAGE).write_text(self._page(), encoding="utf-8")
            (self._part / SUMS).write_text(self._sums(), encoding="utf-8")
        if self.folder.exists():
            self.folder.rmdir()
        self._part.rename(self.folder)
        return self.folder

    def _sums(self) -> str:
        """The SHA-256 of every file, as `sha256sum` reads it."""
        files = sorted(one for one in self._part.rglob("*") if one.is_file())
        return "".join(
            f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.relative_to(self._part)}\n"
            for one in files
        )

    def discard(self) -> None:
        """Removes the unfinished folder."""
        shutil.rmtree(self._part, ignore_errors=True)

    def _of_proof(self, result: ProofResult) -> dict[str, Any]:
        return {
            "claim": result.proof.claim,
            "system": result.proof.system,
            "version": result.recorded.version,
            "without": result.recorded.without,
            "brokers": result.brokers or "any",
            "verdict": result.verdict.value,
            "writes": {
                step.transition.name: sorted({write.field for write in step.writes})
                for step in result.recorded.steps
            },
            "reads": _read_by(result.proof, result.recorded),
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

    # -- the page -----------------------------------------------------------------------------

    def _page(self) -> str:
        lines = [HOW_TO_CHECK, ""]
        if not self.by_cvc5:
            lines += ["cvc5 was not installed: the files were answered by Z3 alone.", ""]
        elif not self.checker:
            lines += ["No checker was run when this was written.", ""]
        else:
            lines += [f"A checker was run when this was written: {self.checked} proofs are "
                      f"correct, {len(self.refused)} are not.", ""]  # fmt: skip
        for result in self._proofs:
            lines += [*self._answer_lines(result), ""]
        return "\n".join(lines)

    def _answer_lines(self, result: ProofResult) -> Iterator[str]:
        proof, recorded = result.proof, result.recorded
        claim = recorded.claim(proof.claim)[0]
        label = self._label(proof)
        yield f"## `{claim.name}` of {proof.system} {recorded.version}: {result.verdict}"
        yield ""
        yield f"Claimed: {claim.sentence}."
        yield from (f"{words}." for words in proof.about)
        yield ""
        yield "Assumed, and not checked here:"
        yield ""
        yield from (f"* {words}" for words in proof.assumes)
        yield ""
        yield "The invariants:"
        yield ""
        yield from (f"* `{one.name}`: {one.sentence}" for one in proof.invariants)
        if proof.premises:
            yield ""
            yield "Assumed of every state, and shown by the proof before this one:"
            yield ""
            yield from (f"* `{one.name}`: {one.sentence}" for one in proof.premises)
        yield ""
        yield "| Step | What is to be shown | By | Files |"
        yield "|---|---|---|---|"
        for one in result.obligations:
            files = self._files.get((label, one.step, one.invariant), [])
            named = ", ".join(_linked(entry) for entry in files)
            by = "the frame rule" if one.by == "frame" else _solver_answers(one, files)
            yield f"| `{one.step}` | {one.invariant} | {by} | {named or '-'} |"


def _read_by(proof: Proof, recorded: RecordedSystem) -> dict[str, list[str]]:
    """What each invariant reads, definitions written out; and which fields have a domain."""
    code = Z3Code(recorded)
    state = code.state()
    limited = [name for name, leaf in recorded.fields.items()
               if code.domains(state, leaf) is not None]  # fmt: skip
    return {**{one.name: sorted(one.reads) for one in conjuncts(proof, recorded)},
            DOMAINS: sorted(limited)}  # fmt: skip


def _solver_answers(one: Obligation, files: list[dict[str, str]]) -> str:
    said = [f"{solver}: {answer}" for solver, answer in one.answers.items()]
    second = {entry["cvc5"] for entry in files if "cvc5" in entry}
    checked = {entry["checked"] for entry in files if "checked" in entry}
    return ", ".join([*said, *(f"cvc5: {answer}" for answer in sorted(second)),
                      *(f"checker: {answer}" for answer in sorted(checked))])  # fmt: skip


def _linked(entry: dict[str, str]) -> str:
    name = f"[{Path(entry['file']).name}]({entry['file']})"
    return f"{name} ([proof]({entry['proof']}))" if "proof" in entry else name


CORRECT = "correct"
REFUTES = "--require-proof-of-false"
"""So that the checker looks whether the proof comes to the contradiction."""

_TOKEN = re.compile(r'\|[^|]*\||"[^"]*"|;[^\n]*|[()]|[^\s()|";]+')


def proof_without_declarations(proof: str) -> str:
    """A proof in the form that a checker reads after its question. Removes cvc5's outer brackets,
    and its second declarations of the question's symbols, which would make different symbols."""
    text = proof.strip()
    inner = text[1:-1] if text[:1] + text[-1:] == "()" else text
    lines = (line for line in inner.splitlines() if not line.startswith("(declare-"))
    return "\n".join(line for line in lines if line.strip()) + "\n"


def plain_question(text: str) -> str:
    """An SMT-LIB text that cvc5 understands, without solver guidance: `(! F :pattern (...))`
    becomes `F`, and so does a conjunction or disjunction of `F` alone.
    """
    stack: list[list[str]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            alone = inner[:1] == ["!"] or (inner[:1] in (["and"], ["or"]) and len(inner) == 2)
            stack[-1].append(inner[1] if alone else f"({' '.join(inner)})")
        elif not token.startswith(";"):
            stack[-1].append(token)
    return "\n".join(stack[0]) + "\n"


HOW_TO_CHECK = f"""\
# A certificate, to be checked without the code that made it

Each claim below is proved by induction: its invariants hold initially, every step keeps each of
them, and together they imply the claim. That is one obligation for each step and invariant, and
an obligation is one file or some. A file is a question in SMT-LIB that needs nothing else; any
solver may be asked. All commands are for a shell in this folder.

The files are those that were written:

```sh
sha256sum --quiet -c {SUMS}        # says nothing
```

Z3 (`pip install z3-solver`) or cvc5 (`apt-get install cvc5`) answers each question:

```sh
for f in */*.smt2; do z3 "$f"; done | sort | uniq -c        # unsat, as often as there are files
for f in */*.smt2; do cvc5 --user-pat=strict --enum-inst "$f"; done | sort | uniq -c
```

`unsat` means that the negation of what is to be shown is impossible under the hypotheses: so that
this part of the obligation holds. Hypotheses that contradict each other would imply anything. The
negation is the last assertion of a file; without it no solver may say `unsat`:

```sh
for f in */*.smt2; do python3 -c 'import sys
print(sys.stdin.read().rpartition("(assert")[0], "(check-sat)")' < "$f" | z3 -in -T:5; done |
sort | uniq -c        # sat, or that it does not know; never unsat
```

Who believes no solver checks proofs. Beside a file stands, where cvc5 was installed when this was
written, the proof that it gave (`.cpc.gz`), in its Cooperating Proof Calculus. Ethos checks it, a
program of its own that knows nothing of solvers (`cvc5/ethos` on GitHub, built by cmake), by
rules that stand in cvc5's sources (`proofs/eo/cpc`). `.plain.smt2.gz` is the question without its
patterns, which only guide a solver; by it Ethos sees that the proof assumes nothing but the
question's assertions. The proof has to come by standard input: in a file that is named Ethos does
not compare it with the question.

```sh
for f in */*.cpc.gz; do gunzip -c "${{f%.cpc.gz}}.plain.smt2.gz" > question
gunzip -c "$f" | ethos --include=cvc5/proofs/eo/cpc/Cpc.eo --reference=question \\
--require-proof-of-false; done | sort | uniq -c        # correct, as often as there are proofs
```

An obligation without a file is settled by the frame rule: the step writes nothing that the
invariant reads. `{MANIFEST}` lists what each reads and writes, with definitions written out:

```sh
python3 -c 'import json
for claim in json.load(open("{MANIFEST}"))["claims"]:
    for one in claim["obligations"]:
        reads, writes = claim["reads"].get(one["invariant"]), claim["writes"].get(one["step"])
        if not one["files"] and (reads is None or writes is None or set(reads) & set(writes)):
            print(claim["claim"], one["step"], one["invariant"])'        # prints nothing
```

What is left to be believed or read: that the questions are those of the protocol's text (its
recording and lowering), that what is read and written is as in that text, and that the parts into
which a goal was split together say the same. That each question says of its step and invariant
what it should can be read in the file: it is short, and names the fields."""
