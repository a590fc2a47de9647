"""Dependencies between the invariants of a proof: which ones each invariant's obligations use.

The edges come from the solver's unsatisfiable core of each obligation, for any number of brokers:
a core is one way to prove the obligation, and no premise of it can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import networkx as nx

from model.language import RecordedSystem
from specs.invariants import Proof
from specs.prover import IMPLIED, LEMMA, prove

Report = Callable[[str], None]
Needs = dict[str, set[str]]


def who_needs_whom(
    proof: Proof, recorded: RecordedSystem, report: Report = lambda line: None
) -> Needs:
    """By invariant or claim: the other invariants that some obligation of it needs."""
    found: Needs = {one.name: set() for one in proof.invariants}

    def note(step: str, invariant: str, needed: set[str]) -> None:
        if step == LEMMA:
            return
        report(f"{step}: {invariant} needs {len(needed)}")
        name = f"claim: {invariant}" if step == IMPLIED else invariant
        found.setdefault(name, set()).update(needed - {invariant})

    prove(proof, recorded, needs=note)
    return {name: needed & {one.name for one in proof.invariants}
            for name, needed in found.items()}  # fmt: skip


def as_graph(needs: Mapping[str, set[str]]) -> nx.DiGraph:
    """The graph with an edge from each invariant or claim to every invariant that it needs."""
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(needs))
    graph.add_edges_from((name, other) for name in sorted(needs) for other in sorted(needs[name]))
    return graph


def dot(needs: Mapping[str, set[str]], title: str) -> str:
    """The graph in Graphviz's language."""
    graph = as_graph(needs)
    lines = [f'digraph "{title}" {{', "  rankdir=LR;", '  node [shape=box, fontname="Helvetica"];']
    lines += [f'  "{name}";' for name in graph.nodes]
    lines += [f'  "{one}" -> "{other}";' for one, other in graph.edges]
    return "\n".join([*lines, "}", ""])


ROW, GAP, LETTER, MARGIN = 26, 70, 6.6, 16


def svg(needs: Mapping[str, set[str]], title: str) -> str:
    """The graph as SVG: claims on the left, the invariants they need to the right, by distance."""
    graph = as_graph(needs)
    columns = _columns(graph)
    places: dict[str, tuple[float, float, float]] = {}
    x = float(MARGIN)
    for column in columns:
        width = max(len(name) for name in column) * LETTER + 12
        for row, name in enumerate(column):
            places[name] = (x, MARGIN + 24 + row * ROW, width)
        x += width + GAP
    height = MARGIN * 2 + 24 + max(map(len, columns)) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:.0f}" height="{height:.0f}" '
        'font-family="Helvetica,Arial,sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN + 4}" font-size="13">{escape(title)}</text>',
    ]
    for one, other in graph.edges:
        (x1, y1, w1), (x2, y2, w2) = places[one], places[other]
        start, end = (x1 + w1, x2) if x1 < x2 else (x1, x2 + w2) if x2 < x1 else (x1 + w1, x2 + w2)
        lines.append(
            f'<path d="M{start:.0f},{y1 + 9:.0f} C{start + 40:.0f},{y1 + 9:.0f} '
            f'{end - 40:.0f},{y2 + 9:.0f} {end:.0f},{y2 + 9:.0f}" fill="none" stroke="#8aa" '
            'stroke-opacity="0.55"/>'
        )
    for name, (left, top, width) in places.items():
        lines.append(
            f"<g><title>{escape(name)} needs {len(needs[name])}</title>"
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="18" rx="3" '
            f'fill="#eef4f8" stroke="#467"/>'
            f'<text x="{left + 6:.0f}" y="{top + 13:.0f}">{escape(name)}</text></g>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _columns(graph: nx.DiGraph) -> list[list[str]]:
    """By the least number of needs between them and a claim, or somebody whom nobody needs."""
    roots = [name for name in graph.nodes if not graph.in_degree(name)] or sorted(graph.nodes)[:1]
    far = nx.multi_source_dijkstra_path_length(graph, roots, weight=None)
    last = max(far.values(), default=0) + 1
    columns: dict[int, list[str]] = {}
    for name in sorted(graph.nodes):
        columns.setdefault(int(far.get(name, last)), []).append(name)
    return [columns[key] for key in sorted(columns)]
