"use strict";
// The page knows nothing of the protocol: it shows lanes, cards and lamps as it is told.

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
  let told = text;
  try { told = JSON.parse(text).error; } catch { /* the server says why in plain words */ }
  throw new Error(told || answer.statusText);
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

let drawn = null;                               // the lines whose list stands there

function drawSteps() {
  if (drawn !== game.lines) {
    const items = [WORDS.beginning, ...game.lines].map((line, n) =>
      make("li", {}, make("button", { type: "button", onclick: () => go(n) }, line)));
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
      `└ ${WORDS.after} ${fork}: ${runs[one].length - fork} ${WORDS.steps}: ${runs[one].at(-1)}`),
    make("button", { type: "button", onclick: () => compareWith({ right: [game.heading, ...runs[one]] }) }, WORDS.lay),
    below[one].length ? make("ul", { class: "tree" }, ...below[one].map(branch)) : null);
  return below[0].sort((a, b) => a[1] - b[1]).map(branch);
}

function drawCards(possible, refused) {
  $("cards").replaceChildren(...possible.map((card, n) => make("li", {},
    make("button", { type: "button", class: "card", onclick: () => take(card.line), title: card.summary },
      n < 9 ? make("kbd", {}, String(n + 1)) : null,
      make("b", {}, card.label), make("span", { class: "summary" }, card.summary),
      ...card.changes.slice(0, FEW).map(change => make("code", {}, change)),
      card.changes.length > FEW ? make("small", {}, `+ ${card.changes.length - FEW} ${WORDS.changes}`) : null))));
  if (!possible.length) $("cards").replaceChildren(make("li", {}, WORDS.nothing));
  $("refusals").textContent = String(refused.length);
  $("refused").replaceChildren(...refused.map(one => make("li", {},
    make("b", {}, one.label), make("span", {}, one.why),
    make("span", {}, make("button", { type: "button", onclick: () => waits(one) }, WORDS.whatFor),
      one.others ? make("small", {}, ` + ${one.others} ${WORDS.other(one.others)}`) : null))));
}

function tell(frame) {
  const what = frame.label + (frame.changes.length ? ": " + frame.changes.join("; ") : "");
  say(`${WORDS.played} ${shown}: ${what}`);
}

async function go(count) {
  shown = Math.max(0, Math.min(count, game.lines.length));
  if (FROZEN) {
    const frame = unpacked(FROZEN.frames[shown], FROZEN.table);
    $("board").replaceChildren(...alarm(frame.lamps), ...drawing(frame.picture, frame.lamps)); drawLamps(frame.lamps); drawSteps(); tell(frame);
    return;
  }
  try {
    here = await ask("at", { heading: game.heading, lines: game.lines.slice(0, shown) });
  } catch (error) {
    say(error.message);
    if (shown > 0) { game.lines = game.lines.slice(0, shown - 1); return go(shown - 1); }
    return;
  }
  $("board").replaceChildren(...alarm(here.frame.lamps), ...drawing(here.frame.picture, here.frame.lamps)); drawLamps(here.frame.lamps); drawCards(here.possible, here.refused);
  drawSteps(); tell(here.frame); $("extra").replaceChildren();
  offerGoals().catch(error => say(error.message));
  history.replaceState(null, "", location.pathname + "#" + here.address);
}

function leave() {
  if (game.lines.length > shown) {
    branches = [game.lines, ...branches.filter(lines => lines.join() !== game.lines.join())].slice(0, 20);
  }
}

function take(line) {
  if (game.lines[shown] !== line) { leave(); game.lines = [...game.lines.slice(0, shown), line]; }
  return go(shown + 1);
}

// The shortest way to what is asked: { claim }, { goal } or { step }.
let searches = 0;                                // an answer counts for the page that asked, only

async function way(asked, name) {
  say(WORDS.looking);
  const search = ++searches, heading = game.heading, at = shown, run = game.lines;
  const outdated = () => search !== searches || heading !== game.heading || at !== shown || run !== game.lines;
  try {
    const from = $("from").value;
    const found = await ask("way", { heading: game.heading, lines: game.lines.slice(0, shown), from, ...asked });
    if (outdated()) return;
    const within = Object.entries(found.bounds).map(([bound, number]) => `${bound} ${number}`).join(", ");
    if (!found.lines) {
      const none = found.ruled_out.length ? `; ${WORDS.ruledOut} ${found.ruled_out.join(", ")}` : "";
      say(`${name}: ${found.why} (${found.distinct} ${WORDS.states}; ${within}${none})`);
      $("extra").replaceChildren(...found.ruled_out.map(bound =>
        make("button", { type: "button", class: "allow", onclick: () => {
          game = { heading: `${game.heading.replace(new RegExp(` ${bound} 0(?= |$)`), "")} ${bound} 1`, lines: game.lines };
          way(asked, name);
        } }, `${WORDS.allow} ${bound}`)));
      return;
    }
    leave(); game.lines = found.lines; await go(found.lines.length);
    say(`${name}: ${found.more} ${WORDS.steps}; ${$("said").textContent}`);
    $("about").scrollIntoView();                 // what was found stands at the top
  } catch (error) { if (!outdated()) say(error.message); }
}

// What a refused step waits for: the shortest way from here to where it is possible, told, not taken.
async function waits(one) {
  say(WORDS.looking);
  try {
    const found = await ask("way", { heading: game.heading, lines: game.lines.slice(0, shown), from: "here", step: one.line });
    say(found.lines ? `${one.label}: ${found.more} ${WORDS.steps} ${WORDS.away}` : `${one.label}: ${found.why}`);
    $("extra").replaceChildren(found.lines
      ? make("div", {}, make("p", {}, `${one.label} ${WORDS.waits}`),
        make("ol", { class: "waits" }, ...found.lines.slice(shown).map(line => make("li", {}, line))),
        make("button", { type: "button", onclick: () => { leave(); game.lines = found.lines; go(found.lines.length); } }, WORDS.takeThese))
      : make("p", {}, `${one.label}: ${found.why}`));
  } catch (error) { say(error.message); }
}

let offered = "";                                // the heading whose goals are offered

async function offerGoals() {
  if (offered === game.heading) return;
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
  const thrown = $("thrown").value;
  if (thrown) words.push("with", thrown);
  if ($("brokers").value) words.push("brokers", $("brokers").value);
  return words.join(" ");
}

function offer(name) {
  const system = catalog.find(one => one.name === name);
  $("version").replaceChildren(...system.versions.map(v => make("option", { value: v.name, title: v.about, selected: v.name === system.default }, v.name)));
  $("other").replaceChildren(...system.versions.map(v => make("option", { value: v.name, title: v.about }, v.name)));
  const options = [make("option", { value: "" }, WORDS.none)];
  for (const one of system.switches) {
    for (const value of one.values) {
      options.push(make("option", { value: `${one.name}=${value}`, title: `${one.about} (${one.source})` }, `${one.name}=${value}`));
    }
  }
  $("thrown").replaceChildren(...options);
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
  const changed = words.indexOf("with");
  $("thrown").value = changed > 0 && [...$("thrown").options].some(one => one.value === words[changed + 1]) ? words[changed + 1] : "";
  const brokers = words.indexOf("brokers");
  if (brokers > 0) $("brokers").value = words[brokers + 1];
}

async function begin() {
  await thaw();
  inWords();
  projects();
  $("back").addEventListener("click", () => go(shown - 1));
  $("forward").addEventListener("click", () => go(shown + 1));
  $("anew").addEventListener("click", () => go(0));
  document.addEventListener("keydown", event => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") go(shown - 1);
    else if (event.key === "ArrowRight") go(shown + 1);
    else if (/^[1-9]$/.test(event.key) && here && here.possible[event.key - 1]) take(here.possible[event.key - 1].line);
    else return;
    event.preventDefault();
  });
  if (FROZEN) {
    document.body.classList.add("frozen");
    game = { heading: FROZEN.heading, lines: FROZEN.lines };
    $("about").textContent = FROZEN.title;
    if (FROZEN.diagnosis) $("extra").replaceChildren(make("p", { class: "diagnosis" }, FROZEN.diagnosis));
    return go(FROZEN.lines.length);
  }
  $("save").addEventListener("click", saves);
  $("keep").addEventListener("click", keep);
  $("look").addEventListener("submit", event => {
    event.preventDefault();
    const written = $("goal").value.trim();
    if (written) way({ goal: written }, written);
    else way({ claim: $("goals").value }, $("goals").selectedOptions[0].textContent);
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

begin().catch(error => say(error.message)).finally(ready);
