"use strict";
// Two runs in lock-step: a board on each side, and between them the rows, the first difference in
// the middle.

let shown = null;
let at = 0;

function drawSide(id, title, side) {
  const section = $(id);
  section.querySelector("h2").textContent = title;
  const step = section.querySelector(".step");
  const board = section.querySelector(".board");
  if (!side) { step.textContent = WORDS.ended; board.replaceChildren(); return; }
  const [label, refused, frame] = side;
  step.textContent = refused ? `${label}: ${refused}` : label;
  step.classList.toggle("refused", Boolean(refused));
  if (!frame) { board.replaceChildren(); return; }      // lines of a log
  const { picture, lamps } = unpacked(frame, shown.table);
  board.replaceChildren(...alarm(lamps), ...drawing(picture, lamps), ...fields(picture, true));
}

function mark(row, number) {
  if (number === shown.first) return "≠";
  return row[2].length || row[3] ? "~" : "=";
}

function drawRows() {
  $("rows").replaceChildren(...shown.rows.map((row, number) => {
    const [left, right] = [row[0], row[1]].map(side => side ? side[0] : "—");
    return make("li", { class: number === shown.first ? "first" : "" },
      make("button", { type: "button", onclick: () => go(number) },
        make("span", { class: "mark" }, mark(row, number)), ` ${number} `,
        left === right ? left : `${left} | ${right}`));
  }));
}

function go(number) {
  $("rows").children[at]?.classList.remove("here");
  at = Math.max(0, Math.min(number, shown.rows.length - 1));
  const [left, right, differs, words] = shown.rows[at];
  drawSide("left", shown.left, left);
  drawSide("right", shown.right, right);
  const current = $("rows").children[at];
  current.classList.add("here");
  const list = $("rows");
  list.scrollTop = current.offsetTop - list.clientHeight / 2;    // in the middle
  $("differs").replaceChildren(...[words, ...differs.map(one => one.replace(" → ", " | "))]
    .filter(one => one).map(one => make("li", {}, one)));
  say(`${WORDS.step} ${at}: ${differs.length || words ? (words || WORDS.differ) : WORDS.alike}`);
}

function say(text) { $("said").textContent = text; }

async function begin() {
  await thaw();
  inWords();
  projects();
  if (FROZEN) shown = FROZEN;
  else {
    const asked = location.hash.length > 1
      ? { method: "POST", headers: { "Content-Type": "application/json" }, body: decodeURIComponent(location.hash.slice(1)) }
      : {};
    const answer = await fetch(asked.body ? "/api/compare" : "/api/comparison", asked);
    shown = await answer.json().catch(() => ({ error: WORDS.noComparison }));
    if (shown.error) { say(shown.error); return; }
  }
  $("about").textContent = shown.diagnosis || "";
  $("back").addEventListener("click", () => go(at - 1));
  $("forward").addEventListener("click", () => go(at + 1));
  $("first").addEventListener("click", () => go(shown.first ?? 0));
  $("first").disabled = shown.first === null;
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") go(at - 1);
    else if (event.key === "ArrowRight") go(at + 1);
    else if (event.key === "d") go(shown.first ?? 0);
    else return;
    event.preventDefault();
  });
  const beginning = shown.rows[0][0] || shown.rows[0][1];
  document.body.classList.toggle("plain", !beginning[2]);   // no boards: room for the lines
  drawRows();
  go(shown.first ?? 0);
}

begin().catch(error => say(error.message)).finally(ready);
