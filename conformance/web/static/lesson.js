"use strict";
// A lesson beside its board. What is read decides what the board shows: each paragraph, each step of a
// story, stands for a beat of a run. A question holds the board until it is answered, and a wrong
// answer is played out. At the end the reader drives.

let runs = [], table = [];
let beats = [];                                   // of the page, in reading order: { node, run, at, gate }
let here = -1;                                    // the beat that is read
let away = null;                                  // what the board shows instead: an answer played, or a drive
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const SECONDS = 1.1;                              // a beat of a run that plays by itself

function frameOf(run, at) { return unpacked(runs[run].frames[runs[run].beats[at].state], table); }

function drawBoard(frame, heading, said, note) {
  $("now").textContent = heading;
  $("said").textContent = said;
  $("board").replaceChildren(...(note ? [make("p", { class: "note" }, note)] : []), ...alarm(frame.lamps), ...drawing(frame.picture, frame.lamps));
  if ($("all").open) $("state").replaceChildren(...fields(frame.picture, true));
  else $("all").ontoggle = () => $("state").replaceChildren(...fields(frame.picture, true));
}

function showBeat(run, at) {
  const beat = runs[run].beats[at], frame = frameOf(run, at);
  const kind = { refused: `⊘ ${WORDS.refusedStep}: `, check: `${WORDS.checks}: ` }[beat.kind] || "";
  const more = beat.note || (beat.kind === "step" ? frame.changes.join("; ") : "");
  drawBoard(frame, `${kind}${beat.words}`, [beat.label, more].filter(one => one).join(": "),
    beat.kind === "refused" ? `⊘ ${beat.note}` : null);
  $("veil").hidden = true;
}

// ---- what is read ------------------------------------------------------------------------------

// Before a story's first step that is shown: where its actors stand when the text begins.
function setting(run) { return Math.max(0, runs[run].beats.findIndex((one, n) => n && !one.quiet) - 1); }

function collect() {
  let run = 0, at = setting(0);
  const article = document.querySelector("article.lesson");
  for (const node of article.children) {
    if (node.matches("nav, .drive")) continue;
    if (node.matches(".story")) {
      run = Number(node.dataset.run); at = 0;
      beats.push({ node: node.querySelector("h3"), run, at });
      for (const item of node.querySelectorAll(".beat")) {
        at = Number(item.dataset.at);
        beats.push({ node: item, run, at });
      }
      continue;
    }
    const state = node.querySelector("a.state");
    if (state) { run = Number(state.dataset.run); at = Number(state.dataset.at); }
    beats.push({ node, run, at, gate: node.matches(".predict") });
  }
}

function line() {                                 // where one reads: below the board on a phone
  const board = document.querySelector(".living").getBoundingClientRect();
  return innerWidth < 900 ? board.bottom + 40 : innerHeight * 0.38;
}

function read() {
  const at = line();
  let found = 0;
  beats.forEach((beat, n) => { if (beat.node.getBoundingClientRect().top <= at) found = n; });
  if (innerHeight + scrollY >= document.documentElement.scrollHeight - 4) found = beats.length - 1;
  reach(found);
}

// The first question that is not answered holds the board.
function held(upto) {
  return beats.findIndex((beat, n) => n <= upto && beat.gate && !beat.node.dataset.answered);
}

function reach(n) {
  if (n === here || away) { here = n; return; }
  here = n;
  for (const beat of beats) beat.node.classList.toggle("here-now", beat === beats[n]);
  const gate = held(n), beat = beats[gate >= 0 ? gate : n];
  document.body.classList.toggle("held", gate >= 0);
  const key = `${beat.run} ${beat.at}`;
  if (reach.shown !== key) { reach.shown = key; showBeat(beat.run, beat.at); }
  $("veil").hidden = gate < 0;
  if (gate >= 0) $("veil").textContent = WORDS.answerFirst;
}

function turn(way) {
  if (away) back();
  const gate = held(beats.length - 1);
  let next = here;
  do { next += way; } while (beats[next] && beats[next - way] && beats[next].run === beats[next - way].run && beats[next].at === beats[next - way].at && !beats[next].gate);
  next = Math.max(0, Math.min(next, beats.length - 1));
  if (way > 0 && gate >= 0 && gate < next) {       // a question stands before what comes next
    next = gate;
    const node = beats[gate].node;
    if (gate === here) node.querySelector("button").focus();
  }
  const top = beats[next].node.getBoundingClientRect().top + scrollY - line() + 2;
  scrollTo({ top, behavior: "instant" });
  reach(next);
}

// ---- answers, played out -----------------------------------------------------------------------

let timer = 0;

function back() {
  clearTimeout(timer);
  away = null;
  document.body.classList.remove("wrongly");
  $("turn").replaceChildren();
  reach.shown = null;
  const was = here; here = -1; reach(was);
}

function playOut(run, first, last, right) {
  clearTimeout(timer);
  away = "answer";
  document.body.classList.remove("held");
  document.body.classList.toggle("wrongly", !right);
  const end = Math.min(last, runs[run].beats.length - 1);
  let at = Math.min(first, end);
  const next = () => {
    showBeat(run, at);
    $("veil").hidden = right;
    $("veil").textContent = WORDS.wrongPlayed;
    $("turn").replaceChildren(make("p", {}, `${at} ${WORDS.of} ${end}`), make("button", { type: "button", id: "home", onclick: back }, WORDS.again));
    if (at < end) { at += 1; timer = setTimeout(next, SECONDS * 1000); }
  };
  next();
}

function answer(section, button) {
  for (const other of section.querySelectorAll("button")) other.classList.toggle("chosen", other === button);
  const right = button.dataset.right === "yes";
  section.querySelector("[role=status]").textContent = right ? `✓ ${WORDS.right} ${button.dataset.why}` : `✗ ${button.dataset.why}`;
  section.classList.toggle("solved", right);
  section.dataset.answered = "yes";
  if (button.dataset.plays) {
    const [run, first, last] = button.dataset.plays.split(" ").map(Number);
    playOut(run, first, last, right);
  } else if (right) back();
  else {
    // The lesson's own story refutes it, from where something happens to its end.
    const run = Number(section.dataset.run);
    playOut(run, setting(run), runs[run].beats.length - 1, false);
  }
}

// ---- the reader drives -------------------------------------------------------------------------

async function drive(heading, lines) {
  away = "drive";
  document.body.classList.remove("held", "wrongly");
  const home = make("button", { type: "button", id: "home", onclick: back }, WORDS.again);
  if (!("served" in document.body.dataset)) {
    $("turn").replaceChildren(make("p", {}, WORDS.offline), make("pre", {}, `insync play --run '#${runs[drive.run].address}'`), home);
    return;
  }
  try {
    const answer = await fetch("/api/at", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ heading, lines }) });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    drawBoard(found.frame, lines.length ? found.frame.words : WORDS.beginning, WORDS.mine, null);
    $("veil").hidden = true;
    const likely = [...found.possible.filter(one => !one.fault).slice(0, 5), ...found.possible.filter(one => one.fault).slice(0, 3)];
    $("turn").replaceChildren(make("p", {}, WORDS.mine), ...likely.map(one =>
      make("button", { type: "button", class: "card", title: `${one.label}: ${one.summary}`, onclick: () => drive(heading, [...lines, one.line]) }, make("b", {}, one.words))),
      make("a", { class: "play", href: `/play#${found.address}` }, WORDS.openHere), home);
    $("turn").querySelector("button").focus({ preventScroll: true });
  } catch (error) { $("turn").replaceChildren(make("p", {}, `${WORDS.error} ${error.message}`), home); }
}

// ---- beginning ---------------------------------------------------------------------------------

async function begin() {
  inWords();
  projects();
  if (!$("runs")) return;                          // the list of lessons
  const loaded = inflated($("runs").textContent).then(found => { ({ runs, table } = found); collect(); });
  for (const section of document.querySelectorAll(".predict")) {  // a click may come before the runs
    for (const button of section.querySelectorAll("button")) button.addEventListener("click", async () => { await loaded; answer(section, button); });
  }
  await loaded;
  $("all").open = innerWidth >= 900;
  const jump = beat => { if (away) back(); reach.shown = null; const [run, at] = [Number(beat.dataset.run), Number(beat.dataset.at)]; showBeat(run, at); reach.shown = `${run} ${at}`; };
  for (const link of document.querySelectorAll("a.state")) link.addEventListener("click", event => { event.preventDefault(); jump(link); });
  for (const item of document.querySelectorAll(".beat")) item.querySelector("button").addEventListener("click", () => {
    scrollTo({ top: item.getBoundingClientRect().top + scrollY - line() + 2, behavior: calm.matches ? "instant" : "smooth" });
    if (held(beats.findIndex(one => one.node === item)) < 0) jump(item);
  });
  $("back").addEventListener("click", () => turn(-1));
  $("forward").addEventListener("click", () => turn(1));
  $("drive").addEventListener("click", () => { const last = beats.findLast(one => one.run < document.querySelectorAll(".story").length); drive.run = last.run; drive(runs[last.run].heading, runs[last.run].lines); });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("pre, .logbook")) return;
    if (event.key === "ArrowRight") turn(1);
    else if (event.key === "ArrowLeft") turn(-1);
    else if (event.key === "Escape" && away) back();
    else return;
    event.preventDefault();
  });
  let asked = false;
  addEventListener("scroll", () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; read(); }); } }, { passive: true });
  addEventListener("resize", read);
  read();
}

begin().finally(ready);
