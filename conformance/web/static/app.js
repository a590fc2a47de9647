"use strict";
// The page knows nothing of the protocol: it shows lanes, cards and lamps from data.

let catalog = [];
let game = { heading: "", lines: [] };
let shown = 0;                                  // how many lines of the game are played
let branches = [];                              // games that were left
let here = null;
const FEW = 4;                                  // changes that a card tells

function say(text) { $("said").textContent = text; }

async function ask(what, body) {
  const answer = await fetch("/api/" + what, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (answer.ok) return answer.json();
  const text = await answer.text();
  let reason = text;
  try { reason = JSON.parse(text).error; } catch { /* the server says why in plain words */ }
  throw new Error(reason || answer.statusText);
}

// ---- the rest ----------------------------------------------------------------------------------

function drawLamps(lamps) {
  $("lamps").replaceChildren(...lamps.map(lamp => {
    const { mark, word, look } = bulb(lamp);
    return make("li", { class: `lamp ${look}` },
      make("details", {},
        make("summary", {}, make("span", { class: "bulb", "aria-hidden": "true" }, mark),
          `${lamp.claim}: ${word}`),
        make("p", {}, lamp.sentence),
        lamp.witness.length ? make("p", { class: "witness" }, `${WORDS.witness}: ${lamp.witness.join(", ")}`) : null,
        FROZEN ? null : make("button", { type: "button", onclick: () => way({ claim: lamp.claim }, lamp.claim) }, WORDS.way)));
  }));
}

const inPlain = new Map();                      // what a line says in words

function plain(line) { return inPlain.get(line) || line; }

// The words of lines that no card has shown: of a run that was found, opened, or handed on.
async function learn(lines) {
  const unknown = [...new Set(lines)].filter(line => !inPlain.has(line));
  if (!unknown.length || FROZEN) return;
  const found = await ask("words", { lines: unknown });
  unknown.forEach((line, n) => inPlain.set(line, found[n]));
}

let drawn = null;                               // the lines whose list stands there

function drawSteps() {
  if (drawn !== game.lines) {
    const items = [WORDS.beginning, ...game.lines].map((line, n) =>
      make("li", {}, make("button", { type: "button", title: line, onclick: () => go(n) }, plain(line))));
    $("steps").replaceChildren(...items);
    drawn = game.lines;
  }
  const steps = $("steps").children;
  for (const [n, item] of [...steps].entries()) {
    const look = n === shown ? "here" : n > shown ? "ahead" : "";
    if (item.className === look) continue;
    item.className = look;
    item.firstChild.toggleAttribute("aria-current", n === shown);
  }
  const list = $("steps"), current = steps[shown];
  // Within its own list: the page itself stays where it is.
  if (current.offsetTop < list.scrollTop || current.offsetTop + current.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }
  $("branches").replaceChildren(...grown());
}

// Runs that were left, as a tree: each hangs where it parts from the run that it shares most with.
function grown() {
  const left = branches.filter(lines => lines.some((line, n) => line !== game.lines[n]));
  const runs = [game.lines, ...left], below = runs.map(() => []);
  const shared = (a, b) => { let n = 0; while (n < a.length && a[n] === b[n]) n += 1; return n; };
  for (let one = 1; one < runs.length; one += 1) {
    let parent = 0;
    for (let other = 1; other < one; other += 1) {
      if (shared(runs[one], runs[other]) > shared(runs[one], runs[parent])) parent = other;
    }
    below[parent].push([one, shared(runs[one], runs[parent])]);
  }
  const branch = ([one, fork]) => make("li", {},
    make("button", { type: "button", onclick: () => { leave(); game.lines = runs[one]; go(runs[one].length); } },
      `└ ${WORDS.after} ${fork}: ${runs[one].length - fork} ${WORDS.steps}: ${plain(runs[one].at(-1))}`),
    make("button", { type: "button", onclick: () => compareWith({ right: [game.heading, ...runs[one]] }) }, WORDS.lay),
    below[one].length ? make("ul", { class: "tree" }, ...below[one].map(branch)) : null);
  return below[0].sort((a, b) => a[1] - b[1]).map(branch);
}

// The likeliest steps first, then all by who takes them: thirty cards say nothing to a newcomer.
const LIKELY = 5;
let cards = [];                                  // in the order of their keys

function card(one, key) {
  return make("li", {}, make("button", { type: "button", class: "card", onclick: () => take(one.line), title: `${one.label}: ${one.summary}` },
    key ? make("kbd", { "aria-hidden": "true" }, String(key)) : null, make("b", {}, one.words),
    make("span", { class: "changes" }, ...one.changes.slice(0, FEW).map(change => make("code", {}, change)),
      one.changes.length > FEW ? make("small", {}, `+ ${one.changes.length - FEW} ${WORDS.changes}`) : null)));
}

function drawCards(possible, refused) {
  const likely = possible.filter(one => !one.fault).slice(0, LIKELY);
  const rest = possible.filter(one => !likely.includes(one));
  const groups = new Map();
  for (const one of rest) groups.set(one.actor, [...(groups.get(one.actor) || []), one]);
  cards = [...likely, ...[...groups.values()].flat()];
  for (const one of possible) inPlain.set(one.line, one.words);
  const opened = new Set([...document.querySelectorAll("#cards details[open]")].map(one => one.dataset.actor));
  $("cards").replaceChildren(
    make("ol", { class: "likely", "aria-label": WORDS.likely }, ...likely.map((one, n) => card(one, n + 1))),
    ...[...groups].map(([actor, list]) => make("details", { "data-actor": actor, open: opened.has(actor) || !likely.length },
      make("summary", {}, actor, make("small", {}, ` ${list.length}`)),
      make("ol", {}, ...list.map(one => card(one, cards.indexOf(one) < 9 ? cards.indexOf(one) + 1 : 0))))));
  if (!possible.length) $("cards").replaceChildren(make("p", {}, WORDS.nothing));
  $("refusals").textContent = String(refused.length);
  $("refused").replaceChildren(...refused.map(one => make("li", {},
    make("b", { title: one.label }, one.words), make("span", {}, one.why),
    make("span", {}, make("button", { type: "button", onclick: () => waits(one) }, WORDS.whatFor),
      one.others ? make("small", {}, ` + ${one.others} ${WORDS.other(one.others)}`) : null))));
}

function tell(frame) {
  const what = frame.label + (frame.changes.length ? ": " + frame.changes.join("; ") : "");
  $("now").textContent = `${shown}. ${shown ? frame.words : WORDS.beginning}`;
  say(`${WORDS.played} ${shown}: ${what}`);
}

function draw(frame) {
  const open = document.querySelector("#state .glossary[open]") !== null;
  $("board").replaceChildren(...alarm(frame.lamps), ...drawing(frame.picture, frame.lamps));
  $("state").replaceChildren(...fields(frame.picture, innerWidth < 900), glossary(frame.picture));
  $("state").querySelector(".glossary").open = open;
  drawLamps(frame.lamps);
}

let asked = 0;                                   // an answer that a later question overtook is old

async function go(count) {
  shown = Math.max(0, Math.min(count, game.lines.length));
  if (FROZEN) {
    const frame = unpacked(FROZEN.frames[shown], FROZEN.table);
    draw(frame); drawSteps(); tell(frame);
    return;
  }
  const turn = ++asked, focused = document.activeElement && $("cards").contains(document.activeElement);
  let found;
  try {
    [found] = await Promise.all([ask("at", { heading: game.heading, lines: game.lines.slice(0, shown) }), learn(game.lines)]);
  } catch (error) {
    if (turn !== asked) return;
    say(error.message);
    if (shown > 0) { game.lines = game.lines.slice(0, shown - 1); return go(shown - 1); }
    return;
  }
  if (turn !== asked) return;
  here = found;
  draw(here.frame); drawCards(here.possible, here.refused);
  drawSteps(); tell(here.frame); $("extra").replaceChildren();
  if (focused) ($("cards").querySelector(".card") || $("board")).focus({ preventScroll: true });
  offering = offerGoals().catch(error => say(error.message));
  history.replaceState(null, "", location.pathname + "#" + here.address);
}

function leave() {
  if (game.lines.length > shown) {
    branches = [game.lines, ...branches.filter(lines => lines.join() !== game.lines.join())].slice(0, 20);
  }
}

async function take(line) {
  if (game.lines[shown] !== line) { leave(); game.lines = [...game.lines.slice(0, shown), line]; }
  await go(shown + 1);
  if (innerWidth < 900) $("stage").scrollIntoView({ block: "start" });   // what it did is to be seen
}

// The shortest run to what is asked: { claim }, { goal } or { step }. The server says how far it is,
// a line of JSON each time, and stops where nobody listens any more.
let searches = 0, listening = null;              // an answer counts for the page that asked, only

async function search(body, tell) {
  if (listening) listening.abort();
  const mine = listening = new AbortController(), began = performance.now();
  $("extra").replaceChildren(make("p", { class: "progress" }, make("span", {}, WORDS.looking), " ",
    make("button", { type: "button", id: "cancel", onclick: () => mine.abort() }, WORDS.cancel)));
  try {
    const answer = await fetch("/api/way", { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, progress: true }), signal: mine.signal });
    if (!answer.ok) throw new Error((await answer.json()).error);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", found = null;
    for (;;) {
      const { value, done } = await reader.read();
      text += value || "";
      const lines = text.split("\n");
      text = lines.pop();
      for (const line of lines.filter(one => one)) {
        const part = JSON.parse(line);
        if (part.error) throw new Error(part.error);
        if (part.progress) tell(`${part.progress} (${Math.round((performance.now() - began) / 1000)} ${WORDS.seconds})`);
        else found = part;
      }
      if (done) return found;
    }
  } finally { if (listening === mine) listening = null; }
}

function progress(text) {
  const place = document.querySelector(".progress span");
  if (place) place.textContent = text;
}

async function way(asked, name) {
  say(WORDS.looking);
  const turn = ++searches, heading = game.heading, at = shown, run = game.lines;
  const outdated = () => turn !== searches || heading !== game.heading || at !== shown || run !== game.lines;
  try {
    const from = $("from").value;
    const found = await search({ heading, lines: game.lines.slice(0, shown), from, ...asked }, progress);
    if (outdated()) return;
    $("extra").replaceChildren();
    const within = Object.entries(found.bounds).map(([bound, number]) => `${bound} ${number}`).join(", ");
    if (!found.lines) {
      const none = found.ruled_out.length ? `; ${WORDS.ruledOut} ${found.ruled_out.join(", ")}` : "";
      const summary = `${name}: ${found.why} (${found.distinct} ${WORDS.states}; ${within}${none})`;
      say(summary);
      $("extra").replaceChildren(make("p", {}, summary), ...found.ruled_out.map(bound =>
        make("button", { type: "button", class: "allow", onclick: () => {
          game = { heading: `${game.heading.replace(new RegExp(` ${bound} 0(?= |$)`), "")} ${bound} 1`, lines: game.lines };
          show(game.heading);
          way(asked, name);
        } }, `${WORDS.allow} ${bound}`)));
      $("extra").querySelector("button")?.focus();
      return;
    }
    leave(); game.lines = found.lines; await go(found.lines.length);
    $("extra").replaceChildren(make("p", {}, `${name}: ${found.more} ${WORDS.steps}`));
    say(`${name}: ${found.more} ${WORDS.steps}; ${$("said").textContent}`);
    $("stage").scrollIntoView({ block: "start" });        // what was found stands at the top
  } catch (error) {
    if (outdated()) return;
    const text = error.name === "AbortError" ? WORDS.cancelled : error.message;
    say(text); $("extra").replaceChildren(make("p", {}, text));
  }
}

// What a refused step waits for: the shortest way from here to where it is possible, shown, not taken.
async function waits(one) {
  say(WORDS.looking);
  const turn = ++searches, at = here;
  try {
    const found = await search({ heading: game.heading, lines: game.lines.slice(0, shown), from: "here", step: one.line }, progress);
    if (found.lines) await learn(found.lines);
    if (turn !== searches || at !== here) return;
    say(found.lines ? `${one.label}: ${found.more} ${WORDS.steps} ${WORDS.away}` : `${one.label}: ${found.why}`);
    $("extra").replaceChildren(found.lines
      ? make("div", {}, make("p", {}, `${one.words} ${WORDS.waits}`),
        make("ol", { class: "waits" }, ...found.lines.slice(shown).map(line => make("li", { title: line }, plain(line)))),
        make("button", { type: "button", onclick: () => { leave(); game.lines = found.lines; go(found.lines.length); $("board").focus(); } }, WORDS.takeThese))
      : make("p", {}, `${one.words}: ${found.why}`));
    $("extra").querySelector("button")?.focus();
  } catch (error) {
    if (turn !== searches || at !== here) return;
    const text = error.name === "AbortError" ? WORDS.cancelled : error.message;
    say(text); $("extra").replaceChildren(make("p", {}, text));
  }
}

let offered = "";                                // the heading whose goals are offered
let offering = Promise.resolve();                // until they stand in the list

async function offerGoals() {
  if (offered === game.heading) return offering;
  const heading = offered = game.heading;
  const goals = await ask("goals", { heading });
  if (heading !== game.heading) return;            // the game is another one by now
  $("goals").replaceChildren(...goals.map(one => make("option", { value: one.claim, title: one.sentence }, one.words)));
}

async function saves() {
  const found = await ask("saved", { heading: game.heading, lines: game.lines.slice(0, shown) });
  $("extra").replaceChildren(found.length
    ? make("ul", {}, ...found.map(one => make("li", {},
      make("b", {}, one.step), ` ${WORDS.savedBy} “${one.guard}” ${WORDS.wouldBreak} ${one.claim}`)))
    : make("p", {}, WORDS.noSave));
}

async function keep() {
  try {
    const kept = await ask("kept", { heading: game.heading, lines: game.lines.slice(0, shown), title: WORDS.kept, form: $("form").value });
    const file = URL.createObjectURL(new Blob([kept.text], { type: "text/plain" }));
    $("extra").replaceChildren(make("p", {}, make("a", { href: file, download: kept.name, id: "download" }, `${WORDS.download} ${kept.name}`)),
      make("pre", { tabindex: "0" }, kept.text.length > 20000 ? kept.text.slice(0, 20000) + "…" : kept.text));
  } catch (error) { say(error.message); }
}

function compareWith(other) {
  const left = [game.heading, ...game.lines];
  open("/compare#" + encodeURIComponent(JSON.stringify({ left, ...other })));
}

// ---- beginning ---------------------------------------------------------------------------------

function chosen() {
  const words = ["system", $("system").value, "version", $("version").value];
  if ($("without").value) words.push(...$("without").value.split(" "));
  if ($("brokers").value) words.push("brokers", $("brokers").value);
  for (const field of $("bounds").querySelectorAll("input")) if (field.value) words.push(field.name, field.value);
  return words.join(" ");
}

function offer(name) {
  const system = catalog.find(one => one.name === name);
  $("version").replaceChildren(...system.versions.map(v => make("option", { value: v.name, title: v.about, selected: v.name === system.default }, v.name)));
  $("other").replaceChildren(...system.versions.map(v => make("option", { value: v.name, title: v.about }, v.name)));
  const options = [make("option", { value: "" }, WORDS.none)];
  for (const one of system.switches) {
    for (const value of one.values) {
      options.push(make("option", { value: `with ${one.name}=${value}`, title: `${one.about} (${one.source})` }, `${one.name}=${value}`));
    }
  }
  $("without").replaceChildren(...options);
  $("bounds").replaceChildren(...system.bounds.filter(one => one.name !== "brokers").map(one =>
    make("label", { title: one.what }, `${one.name} `, make("input", { type: "number", name: one.name, min: one.least, placeholder: one.default ?? "" }))));
  const bound = system.bounds.find(one => one.name === "brokers");
  $("brokers").value = bound ? bound.default : "";
  $("about").textContent = system.about;
  $("goal").placeholder = system.goal;
}

async function fromAddress() {
  const hash = location.hash.slice(1);
  if (!hash) return null;
  if (!hash.startsWith("%5B") && !hash.startsWith("[")) return ask("opened", { address: decodeURIComponent(hash) });
  const [heading, ...lines] = JSON.parse(decodeURIComponent(hash));
  return ask("check", { heading, lines });
}

function show(heading) {
  const words = heading.split(" ");
  const name = words[words.indexOf("system") + 1];
  if (catalog.some(one => one.name === name)) { $("system").value = name; offer(name); }
  const version = words.indexOf("version");
  if (version > 0) $("version").value = words[version + 1];
  const fixes = [], given = {};                    // every switch and bound that the heading names
  for (let n = 2; n + 1 < words.length; n += 2) {
    if (["with", "without"].includes(words[n])) fixes.push(words[n], words[n + 1].toLowerCase());
    else given[words[n]] = words[n + 1];
  }
  // `without X` is the same as `with X` at its first value: offered is the latter.
  const one = fixes.length === 2 && fixes[0] === "without"
    ? [...$("without").options].find(option => option.value.startsWith(`with ${fixes[1]}=`))?.value : fixes.join(" ");
  if (one && ![...$("without").options].some(option => option.value === one)) {
    $("without").append(make("option", { value: one }, one.replace(/with /g, "")));
  }
  $("without").value = one || "";
  for (const field of $("bounds").querySelectorAll("input")) field.value = given[field.name] ?? "";
  $("limits").open = [...$("bounds").querySelectorAll("input")].some(field => field.value);
  const brokers = words.indexOf("brokers");
  if (brokers > 0) $("brokers").value = words[brokers + 1];
}

async function begin() {
  await thaw();
  inWords();
  projects();
  $("back").addEventListener("click", () => go(shown - 1));
  $("forward").addEventListener("click", () => go(shown + 1));
  $("restart").addEventListener("click", () => go(0));
  if (innerWidth < 900) $("setup").open = false;
  document.addEventListener("keydown", event => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") go(shown - 1);
    else if (event.key === "ArrowRight") go(shown + 1);
    else if (/^[1-9]$/.test(event.key) && cards[event.key - 1]) take(cards[event.key - 1].line);
    else return;
    event.preventDefault();
  });
  if (FROZEN) {
    document.body.classList.add("frozen");
    $("setup").remove();
    if (FROZEN.embed) document.body.classList.add("embed");
    game = { heading: FROZEN.heading, lines: FROZEN.lines };
    FROZEN.lines.forEach((line, n) => inPlain.set(line, FROZEN.frames[n + 1].at(-1)));   // its words, which come last
    $("about").textContent = FROZEN.title;
    if (FROZEN.diagnosis) $("extra").replaceChildren(make("p", { class: "diagnosis" }, FROZEN.diagnosis));
    return go(FROZEN.embed ? 0 : FROZEN.lines.length);
  }
  $("save").addEventListener("click", saves);
  $("keep").addEventListener("click", keep);
  $("share").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(location.href); say(WORDS.shared); } catch { say(location.href); }
  });
  $("look").addEventListener("submit", async event => {
    event.preventDefault();
    const written = $("goal").value.trim();
    if (written) return way({ goal: written }, written);
    await offering;                                // who clicks at once waits until the goals are there
    const [goal] = $("goals").selectedOptions;
    if (goal) way({ claim: goal.value }, goal.textContent);
  });
  $("compare").addEventListener("submit", event => {
    event.preventDefault();
    compareWith({ under: "version " + $("other").value });
  });
  catalog = await ask("systems", {});
  $("system").replaceChildren(...catalog.map(one => make("option", { value: one.name }, one.name)));
  $("system").addEventListener("change", () => offer($("system").value));
  $("choose").addEventListener("submit", event => {
    event.preventDefault(); game = { heading: chosen(), lines: [] }; branches = []; go(0);
  });
  const opened = await (await fetch("/api/opening")).json();
  offer(catalog[0].name);
  let found = null;
  try {
    found = await fromAddress();
  } catch (error) {
    game = opened; show(game.heading);
    await go(game.lines.length);
    say(`${WORDS.foreign} ${error.message}`);
    return;
  }
  if (found && found.said) {
    game = { heading: opened.heading, lines: [] }; show(game.heading);
    await go(0);
    say(`${WORDS.foreign} ${found.said}`);
    const nearest = () => { game = { heading: found.heading, lines: found.lines }; show(game.heading); go(found.lines.length); };
    $("extra").replaceChildren(make("button", { type: "button", id: "nearest", onclick: nearest },
      `${WORDS.nearest} ${found.heading}: ${found.lines.length} ${WORDS.steps}`));
    return;
  }
  game = found ? { heading: found.heading, lines: found.lines } : opened;
  show(game.heading);
  const at = Number(new URLSearchParams(location.search).get("at") ?? game.lines.length);
  await go(Math.min(Math.max(0, at || 0), game.lines.length));
}

// ---- a tour in three steps ---------------------------------------------------------------------

function tour(n = 0) {
  for (const one of document.querySelectorAll(".pointed")) one.classList.remove("pointed");
  document.getElementById("tour")?.remove();
  const stop = WORDS.tour[n];
  if (!stop) return;
  const [place, text] = stop;
  document.querySelector(place).classList.add("pointed");
  if (place === "#cannot") $("cannot").open = true;
  document.querySelector(place).scrollIntoView({ block: "nearest" });
  document.body.append(make("div", { id: "tour", role: "dialog", "aria-label": WORDS.tourName },
    make("b", {}, `${n + 1} ${WORDS.of} ${WORDS.tour.length}`), make("p", {}, text),
    make("button", { type: "button", id: "next", onclick: () => tour(n + 1) }, n + 1 < WORDS.tour.length ? WORDS.next : WORDS.done), " ",
    n + 1 < WORDS.tour.length ? make("button", { type: "button", onclick: () => tour(WORDS.tour.length) }, WORDS.stop) : null));
  $("next").focus({ preventScroll: true });
}

const TOUR = new URLSearchParams(location.search).has("tour");   // before the address is made anew
begin().then(() => { if (TOUR) tour(); }).catch(error => say(error.message)).finally(ready);
