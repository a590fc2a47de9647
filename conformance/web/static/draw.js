"use strict";
// The board: how a state is drawn, wherever it is shown (the explorer, lessons, the start page, the
// static site, a file of its own). It knows nothing of the protocol: it draws what it is given.

const $ = id => document.getElementById(id);
let FROZEN = null;                              // a page made by a command carries its run

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

const epochOf = epoch => ((Number(epoch) || 0) % 8 + 8) % 8;
function epochColour(epoch) { return "epoch" + epochOf(epoch); }

// The places that break a claim here: they glow, and are marked.
let glowing = new Set();

function shine(lamps) {
  const broken = lamps.filter(lamp => lamp.kind.startsWith("always") && !lamp.lit);
  glowing = new Set(broken.flatMap(lamp => lamp.witness.map(one => one.slice(0, one.lastIndexOf(" ")))));
}

function shines(path) { return glowing.has(path); }

// ---- fields ------------------------------------------------------------------------------------

// A long name may break where its parts meet, and nowhere else.
function breakable(name) { return name.split(/(?<=[._])/).flatMap((part, n) => n ? [make("wbr"), part] : [part]); }

// Kafka's name for a field and what it says; the longest known part of its path counts.
function meaning(path) {
  const name = path.replace(/\[[^\]]*\]/g, "");
  for (let known = name; known; known = known.slice(0, Math.max(known.lastIndexOf("."), 0))) {
    if (known in FIELDS) return FIELDS[known];
  }
  return [name, WORDS.what];
}

function explain(item, path) {
  const open = item.querySelector(".what");
  if (open) { open.remove(); return; }
  const [name, what] = meaning(path);
  item.append(make("p", { class: "what" }, make("b", {}, name), " ", what));
}

function row(item) {
  const shown = shines(item.path) ? "witness " : "";
  const name = item.part === "zk" || item.name === item.part ? item.name : item.part + "." + item.name;
  const node = make("li", { class: shown + (item.changed ? "changed " : "") + (item.ghost ? "ghost" : ""), title: item.path },
    make("button", { type: "button", tabindex: "-1", class: "name", title: meaning(item.path).join(": "), onclick: () => explain(node, item.path) }, ...breakable(name)),
    make("span", { class: "value" }, item.text),
    shown ? make("span", { class: "unseen" }, " " + WORDS.witness) : null,
    item.changed ? make("span", { class: "unseen" }, " " + WORDS.changed) : null);
  return node;
}

// What has changed, and what breaks a claim, stands there; the rest is quiet.
function rows(list, folded) {
  const loud = list.filter(item => item.changed || shines(item.path));
  const quiet = list.filter(item => !loud.includes(item));
  const parts = [make("ul", { class: "loud" }, ...loud.map(row))];
  if (quiet.length && folded) {
    parts.push(make("details", { class: "rest" }, make("summary", {}, WORDS.quietFields(quiet.length)), make("ul", {}, ...quiet.map(row))));
  } else parts.push(make("ul", { class: "quiet" }, ...quiet.map(row)));
  return parts;
}

// ---- who is what -------------------------------------------------------------------------------

// Three things are distinguished: registered and known (solid), registered and not heard of yet
// (hollow), believed and not registered any more (in pieces).
function standing(badge) {
  const chips = [];
  if (badge.up === false) chips.push(["down", WORDS.down]);
  else if (badge.registered === false) chips.push(["off", WORDS.unregistered]);
  if (badge.controls && badge.believes !== false) chips.push(["solid controller", WORDS.controller]);
  else if (badge.controls) chips.push(["hollow controller", WORDS.electedController]);
  else if (badge.believes) chips.push(["lie controller", WORDS.believesController]);
  if (badge.leads && (badge.role === "leader" || badge.role === null)) chips.push(["solid", WORDS.leader]);
  else if (badge.leads) chips.push(["hollow", badge.up === false ? WORDS.registeredLeader : WORDS.elected]);
  else if (badge.role === "leader") chips.push(["lie", WORDS.believesLeader]);
  else if (badge.role === "follower") chips.push(["quiet", WORDS.follower]);
  return chips;
}

function ring(number, badge) {
  const lie = (badge.believes === true && badge.controls === false) || (badge.role === "leader" && badge.leads === false);
  const crown = badge.leads || badge.role === "leader";
  return make("span", {
    class: `ring ${badge.registered === false ? "off" : "on"}${crown ? " leader" : ""}${badge.believes || badge.controls ? " controller" : ""}${lie ? " lie" : ""}${badge.up === false ? " dead" : ""}`,
    "aria-hidden": "true",
  }, number);
}

function head(key, picture) {
  const badge = picture.badges[key];
  if (!badge) return make("div", { class: "who" }, make("b", {}, key in TITLES ? HEADS[key]() : key));
  return make("div", { class: "who" }, ring(key, badge), make("span", { class: "unseen" }, `${WORDS.broker} ${key}: `),
    make("span", { class: "chips" }, ...standing(badge).map(([look, word]) => make("span", { class: `chip ${look}` }, word))));
}

// ---- logs, side by side by offset --------------------------------------------------------------

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function logTable(picture) {
  const logs = Object.entries(picture.logs);
  if (!logs.length) return null;
  const most = Math.max(1, ...logs.map(([, log]) => Math.max(log.records.length, (log.hw || 0), ...log.cut.map(one => one.offset + 1))));
  const offsets = Array.from({ length: most + 1 }, (_, offset) => offset);
  const differing = new Set(offsets.filter(offset => {
    const there = logs.map(([, log]) => log.records[offset]).filter(one => one);
    return there.some(one => !same(one, there[0]));
  }));
  const used = [...new Set(logs.flatMap(([, log]) => [...log.records, ...log.cut.map(one => one.record)].map(one => one.epoch)))]
    .filter(epoch => epoch !== undefined).sort((a, b) => a - b);
  const legend = make("p", { class: "legend" }, used.length ? WORDS.epochs : "", ...used.map(epoch => make("span", { class: `swatch ${epochColour(epoch)}` }, String(epoch))),
    make("span", { class: "key hw", title: WORDS.hwLong }, WORDS.hw), make("span", { class: "key leo", title: WORDS.leoLong }, WORDS.leo),
    picture.committed ? make("span", { class: "key done" }, WORDS.committed) : null,
    logs.some(([, log]) => log.cut.length) ? make("span", { class: "key ghost" }, WORDS.cut) : null);
  const table = make("table", { class: "logs" },
    make("caption", { class: "unseen" }, WORDS.logs),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, WORDS.offset), ...offsets.slice(0, most).map(offset =>
      make("th", { scope: "col", class: differing.has(offset) ? "differs" : null },
        differing.has(offset) ? make("span", { title: WORDS.differs }, `${offset} ≠`, make("span", { class: "unseen" }, ` ${WORDS.differs}`)) : String(offset))), make("td", {}))),
    make("tbody", {}, ...logs.map(([broker, log]) => logRow(broker, log, picture, offsets, differing))));
  return make("div", { class: "logbook", tabindex: "0", role: "region", "aria-label": WORDS.logs }, legend, table);
}

function logRow(broker, log, picture, offsets, differing) {
  const end = log.records.length, glows = shines(`log[${broker}].end`);
  const badge = picture.badges[broker];
  const leads = badge && (badge.leads || badge.role === "leader");
  const cells = offsets.map(offset => {
    const record = log.records[offset], ghost = log.cut.find(one => one.offset === offset);
    const marks = (log.hw === offset ? " hw" : "") + (end === offset ? " leo" : "");
    const lines = [
      log.hw === offset ? make("i", { class: "mark hwmark" }, WORDS.hw) : null,
      end === offset ? make("i", { class: "mark leomark" }, `${glows ? "✗ " : ""}${WORDS.leo}`) : null,
    ];
    if (record) {
      const witness = Object.keys(record).some(part => shines(`log[${broker}][${offset}].${part}`)) ? " witness" : "";
      const about = Object.entries(record).map(([k, v]) => `${k} ${v}`).join(", ");
      return make("td", { class: `at${marks}`, title: about }, ...lines, make("span", {
        class: `record ${epochColour(record.epoch)}${offset < picture.committed && !differing.has(offset) ? " committed" : ""}${log.new.includes(offset) ? " new" : ""}${differing.has(offset) ? " differs" : ""}${witness}` },
        make("b", {}, `m${record.id ?? record.value ?? "•"}`), record.epoch === undefined ? null : make("small", {}, `e${record.epoch}`)));
    }
    if (ghost) {
      return make("td", { class: `at${marks}`, title: `${WORDS.record} ${ghost.record.id ?? ""} ${WORDS.cutLong}` }, ...lines, make("span", {
        class: `record gone ${epochColour(ghost.record.epoch)}${ghost.now ? " now" : ""}` },
        make("s", {}, `m${ghost.record.id ?? "•"}`), make("small", {}, WORDS.cut)));
    }
    return make("td", { class: `at none${marks}` }, ...lines);
  });
  const ends = [`${WORDS.hw} ${log.hw ?? "–"}`, `${WORDS.leo} ${end}`].join(", ");
  return make("tr", { class: leads ? "leads" : "" },
    make("th", { scope: "row" }, make("span", { class: `dot${leads ? " leads" : ""}`, "aria-hidden": "true" }, broker), make("span", { class: "unseen" }, `${WORDS.broker} ${broker}: `),
      make("small", {}, ends)), ...cells);
}

function flight(item) {
  const parties = item.keys.map((key, n) => item.sorts[n] === "broker" ? `${WORDS.broker} ${key}` : `${item.sorts[n]} ${key}`);
  const node = make("li", { class: item.changed ? "changed" : "" },
    make("button", { type: "button", tabindex: "-1", class: "name", onclick: () => explain(node, item.part) }, item.part),
    make("span", { class: "arrow" }, parties.join(" → ")),
    make("span", { class: "value" }, item.values.map(one => one.text === "true" ? one.name : `${one.name} ${one.text}`.trim()).join(" · ")),
    item.changed ? make("span", { class: "unseen" }, " " + WORDS.changed) : null);
  return node;
}

// ---- lanes, and the messages between them ------------------------------------------------------

const TITLES = { zookeeper: () => WORDS.zookeeper, controllers: () => WORDS.controllers, clients: () => WORDS.clients };
const SHORT = { zookeeper: () => WORDS.zk, controllers: () => WORDS.controllers, clients: () => WORDS.clients };
const HEADS = { zookeeper: () => WORDS.headZk, controllers: () => WORDS.headControllers, clients: () => WORDS.clients };
const lane = key => key in TITLES ? SHORT[key]() : `${WORDS.broker} ${key}`;
const MARKS = { sent: "✉", flying: "✉", late: "⧖", copy: "⧉", lost: "✗", refused: "⊘", arrived: "" };

// A message: a line from lane to lane with a head at each that it goes to. What became of it is a
// mark on the line, the form of the line and of its heads, and a word: never a colour alone. By
// this step it also moves: from its sender to the middle, from there to its end, or down.
function arrow(message, lanes) {
  const from = lanes.indexOf(message.source), to = message.targets.map(one => lanes.indexOf(one));
  const first = Math.min(from, ...to), last = Math.max(from, ...to), span = last - first + 1;
  const place = one => `${100 * (one - first) / Math.max(span - 1, 1)}%`;
  const at = (node, left) => { node.style.left = left; return node; };
  const ends = to.map(one => at(make("i", { class: one < from ? "head left" : "head" }), place(one)));
  const far = to.reduce((best, one) => Math.abs(one - from) > Math.abs(best - from) ? one : best, to[0]);
  const mark = MARKS[message.fate], middle = place((from + far) / 2);
  const moving = ["sent", "arrived", "lost", "refused"].includes(message.fate);
  const wire = make("span", { class: "wire", "aria-hidden": "true" },
    at(make("i", { class: "tail" }), place(from)), ...ends,
    mark ? at(make("i", { class: "mark" }, mark), middle) : null,
    moving ? make("i", { class: `mover ${message.fate}` }) : null);
  const came = message.fate === "sent" ? [place(from), middle]
    : message.steps > 0 || message.fate === "lost" ? [middle, place(far)] : [place(from), place(far)];
  wire.style.setProperty("--go", came[0]);
  wire.style.setProperty("--come", message.fate === "lost" ? middle : came[1]);
  wire.style.gridColumn = `${first + 1} / ${last + 2}`;
  wire.style.marginInline = `${50 / span}%`;
  const fate = WORDS.fates[message.fate] + (message.steps > 1 ? ` (${message.steps} ${WORDS.steps})` : "");
  const sentence = make("span", { class: "sentence" }, make("b", {}, message.name),
    make("span", { class: "unseen" }, `, ${lane(message.source)} → ${message.targets.map(lane).join(", ")}: `),
    ` ${message.label} `, make("small", {}, fate));
  const right = first > lanes.length / 2;
  sentence.style.gridColumn = right ? `1 / ${last + 2}` : `${first + 1} / -1`;
  const item = make("li", { class: `message ${message.fate}${message.answer ? " answer" : ""}${right ? " right" : ""}` }, wire, sentence);
  item.style.gridTemplateColumns = `repeat(${lanes.length}, minmax(0, 1fr))`;
  return item;
}

function crossing(picture) {
  const heads = make("div", { class: "heads" }, ...picture.lanes.map(key => head(key, picture)));
  heads.style.gridTemplateColumns = `repeat(${picture.lanes.length}, minmax(0, 1fr))`;
  const list = make("ol", { class: "messages", "aria-label": WORDS.messages },
    ...picture.messages.map(message => arrow(message, picture.lanes)));
  list.style.setProperty("--lanes", picture.lanes.length);
  if (!picture.messages.length) list.append(make("li", { class: "none" }, WORDS.quiet));
  return make("div", { class: "crossing" }, heads, list);
}

function controllerMemory(picture, folded) {
  const parts = Object.entries(picture.controllers).filter(([, list]) => list.length);
  return make("article", { class: "lane" }, make("h3", {}, WORDS.controllers),
    ...parts.flatMap(([number, list]) => [make("h4", {}, `${WORDS.broker} ${number}`), ...rows(list, folded)]),
    parts.length ? null : make("p", { class: "none" }, Object.values(picture.badges).some(one => one.believes !== null) ? WORDS.nobody : WORDS.notModelled));
}

// Every field, by whose it is.
function fields(picture, folded = false) {
  const lanes = make("div", { class: "lanes" + (picture.lanes.length > 6 ? " many" : "") });
  lanes.style.setProperty("--lanes", picture.lanes.length);
  lanes.append(make("article", { class: "lane zk" }, make("h3", {}, WORDS.zookeeper),
    ...rows([...picture.zookeeper, ...picture.world], folded)), controllerMemory(picture, folded));
  for (const [number, list] of Object.entries(picture.brokers)) {
    lanes.append(make("article", { class: "lane" }, make("h3", {}, `${WORDS.broker} ${number}`), ...rows(list, folded)));
  }
  if (picture.clients.length) lanes.append(make("article", { class: "lane" }, make("h3", {}, WORDS.clients), ...rows(picture.clients, folded)));
  const between = picture.flight.length ? make("article", { class: "lane between" },
    make("h3", {}, WORDS.flight), make("ul", {}, ...picture.flight.map(flight))) : "";
  return [lanes, between];
}

// What the fields that stand here are, for who has no mouse to click them.
function glossary(picture) {
  const known = new Map();
  const lists = [picture.zookeeper, picture.world, picture.clients, ...Object.values(picture.controllers), ...Object.values(picture.brokers)];
  for (const item of lists.flat()) {
    const [name, what] = meaning(item.path);
    known.set(name, what);
  }
  return make("details", { class: "glossary" }, make("summary", {}, WORDS.glossary),
    make("dl", {}, ...[...known].flatMap(([name, what]) => [make("dt", {}, name), make("dd", {}, what)])));
}

// The board itself: who is what, what is on its way, and the logs.
function drawing(picture, lamps = []) {
  shine(lamps);
  return [crossing(picture), logTable(picture)].filter(one => one);
}

// ---- a run in the page itself: each row stands in a table once ---------------------------------

function unpacked(frame, table) {
  const rows = number => table[number].map(one => table[one]);
  const each = (number, take) => Object.fromEntries(Object.entries(table[number]).map(([key, one]) => [key, take(table[one], one)]));
  const [label, changes, zookeeper, world, brokers, flying, logs, badges, committed, lamps,
    lanes, controllers, clients, messages, words] = frame;
  return {
    label, changes, words,
    picture: {
      zookeeper: rows(zookeeper), world: rows(world), flight: rows(flying), committed,
      lanes: table[lanes], clients: rows(clients), messages: rows(messages),
      controllers: each(controllers, (_, number) => rows(number)),
      brokers: each(brokers, (_, number) => rows(number)),
      logs: each(logs, ([records, hw, fresh, cut]) => ({ records: rows(records), hw, new: fresh, cut })),
      badges: each(badges, badge => badge),
    },
    lamps: rows(lamps),
  };
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function thaw() {
  FROZEN = window.FROZEN || null;
  if (window.DEFLATED) FROZEN = await inflated(window.DEFLATED);
}

function bulb(lamp) {
  const good = lamp.kind.startsWith("always");
  return {
    mark: good ? (lamp.lit ? "✓" : "✗") : (lamp.lit ? "●" : "○"),
    word: good ? (lamp.lit ? WORDS.holds : WORDS.broken) : (lamp.lit ? WORDS.reached : WORDS.notyet),
    look: good ? (lamp.lit ? "holds" : "broken") : (lamp.lit ? "reached" : "dark"),
  };
}

// The claims that are broken here, in red above everything else; nothing where all hold.
function alarm(lamps) {
  const broken = lamps.filter(lamp => lamp.kind.startsWith("always") && !lamp.lit);
  if (!broken.length) return [];
  return [make("ul", { class: "alarm" }, ...broken.map(lamp =>
    make("li", {}, make("b", {}, `✗ ${lamp.claim}: ${WORDS.broken}. `), make("span", {}, lamp.sentence))))];
}

function inWords() {
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = WORDS[node.dataset.word];
}

function ready() { document.body.classList.remove("waiting"); }

function projects() {
  $("projector").addEventListener("click", () => {
    const big = document.body.classList.toggle("big");
    $("projector").setAttribute("aria-pressed", String(big));
  });
}
