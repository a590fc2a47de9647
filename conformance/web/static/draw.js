"use strict";
// How a state is drawn: lanes, rings, logs, what is in flight. It knows nothing of the protocol.

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

function epochColour(epoch) { return "epoch" + (((Number(epoch) || 0) % 8 + 8) % 8); }

// The places that break a claim here: they glow, and are marked.
let glowing = new Set();

function shine(lamps) {
  const broken = lamps.filter(lamp => lamp.kind.startsWith("always") && !lamp.lit);
  glowing = new Set(broken.flatMap(lamp => lamp.witness.map(one => one.slice(0, one.lastIndexOf(" ")))));
}

function shines(path) { return glowing.has(path); }

// A long name may break where its parts meet, and nowhere else.
function breakable(name) { return name.split(/(?<=[._])/).flatMap((part, n) => n ? [make("wbr"), part] : [part]); }

function row(item) {
  const shown = shines(item.path) ? "witness " : "";
  return make("li", { class: shown + (item.changed ? "changed " : "") + (item.ghost ? "ghost" : ""), title: item.path },
    make("span", { class: "name" }, ...breakable(item.part === "zk" || item.name === item.part ? item.name : item.part + "." + item.name)),
    make("span", { class: "value" }, item.text),
    shown ? make("span", { class: "unseen" }, " " + WORDS.witness) : null,
    item.changed ? make("span", { class: "unseen" }, " " + WORDS.changed) : null);
}

function badge(number, badge) {
  const outer = badge.registered === false ? "off" : "on";
  const inner = badge.believes ? "believes" : badge.role || "none";
  const lie = (badge.believes === true && badge.controls === false)
    || (badge.role === "leader" && badge.leads === false);
  const words = [
    badge.up === null ? null : badge.up ? WORDS.up : WORDS.down,
    badge.registered === null ? null : badge.registered ? WORDS.registered : WORDS.unregistered,
    badge.controls ? WORDS.controls : null, badge.believes ? WORDS.believes : null,
    badge.leads ? WORDS.leader : null, badge.role ? WORDS.role + " " + badge.role : null,
  ].filter(word => word);
  return make("div", { class: "who" },
    make("span", { class: `ring ${outer} ${inner}${lie ? " lie" : ""}${badge.up === false ? " dead" : ""}`, "aria-hidden": "true" }, number),
    make("span", { class: "words" }, words.join(", ")));
}

function strip(log, committed, broker) {
  const list = make("ol", { class: "log", "aria-label": WORDS.log });
  log.records.forEach((record, offset) => {
    const about = Object.entries(record).map(([k, v]) => `${k} ${v}`).join(", ");
    const glows = Object.keys(record).some(part => shines(`log[${broker}][${offset}].${part}`)) ? " witness" : "";
    list.append(make("li", { class: epochColour(record.epoch) + glows + (offset < committed ? " committed" : "") + (log.hw === offset ? " hw" : "") + (log.hw === offset + 1 && log.hw === log.records.length ? " hwend" : ""), title: about },
      make("b", {}, String(record.id ?? record.value ?? "•")),
      make("small", {}, "e" + (record.epoch ?? "?"))));
  });
  if (!log.records.length) list.append(make("li", { class: "empty" }, WORDS.empty));
  return make("div", { class: "strip" }, list,
    make("span", { class: "ends" },
      log.hw === null || log.hw === undefined ? null : make("span", { class: "mark" }, `${WORDS.hw} ${log.hw}`),
      make("span", { class: shines(`log[${broker}].end`) ? "mark" : "" }, `${shines(`log[${broker}].end`) ? "✗ " : ""}${WORDS.end} ${log.records.length}`)));
}

function flight(item) {
  const parties = item.keys.map((key, n) => item.sorts[n] === "broker" ? `${WORDS.broker} ${key}` : `${item.sorts[n]} ${key}`);
  return make("li", { class: item.changed ? "changed" : "" },
    make("span", { class: "name" }, item.part),
    make("span", { class: "arrow" }, parties.join(" → ")),
    make("span", { class: "value" }, item.values.map(one => one.text === "true" ? one.name : `${one.name} ${one.text}`.trim()).join(" · ")),
    item.changed ? make("span", { class: "unseen" }, " " + WORDS.changed) : null);
}

// ---- lanes, and the arrows between them --------------------------------------------------------

const TITLES = { zookeeper: () => WORDS.zookeeper, controllers: () => WORDS.controllers, clients: () => WORDS.clients };
const SHORT = { zookeeper: () => WORDS.zk, controllers: () => WORDS.controllers, clients: () => WORDS.clients };
const HEADS = { zookeeper: () => WORDS.headZk, controllers: () => WORDS.headControllers, clients: () => WORDS.clients };
const lane = key => key in TITLES ? SHORT[key]() : `${WORDS.broker} ${key}`;
const MARKS = { sent: "✉", flying: "✉", late: "⧖", copy: "⧉", lost: "✗", refused: "⊘", arrived: "" };

// An arrow: a line from lane to lane with a head at each that it goes to. What became of it is a
// mark on the line, the form of the line and of its heads, and a word: never a colour alone.
function arrow(message, lanes) {
  const from = lanes.indexOf(message.source), to = message.targets.map(one => lanes.indexOf(one));
  const first = Math.min(from, ...to), last = Math.max(from, ...to), span = last - first + 1;
  const place = one => `${100 * (one - first) / Math.max(span - 1, 1)}%`;
  const at = (node, left) => { node.style.left = left; return node; };
  const ends = to.map(one => at(make("i", { class: one < from ? "head left" : "head" }), place(one)));
  const far = to.reduce((best, one) => Math.abs(one - from) > Math.abs(best - from) ? one : best, to[0]);
  const mark = MARKS[message.fate];
  const wire = make("span", { class: "wire", "aria-hidden": "true" },
    at(make("i", { class: "tail" }), place(from)), ...ends,
    mark ? at(make("i", { class: "mark" }, mark), place((from + far) / 2)) : null);
  wire.style.gridColumn = `${first + 1} / ${last + 2}`;
  wire.style.marginInline = `${50 / span}%`;
  const fate = WORDS.fates[message.fate] + (message.steps > 1 ? ` (${message.steps} ${WORDS.steps})` : "");
  const told = make("span", { class: "told" }, make("b", {}, message.name),
    make("span", { class: "unseen" }, `, ${lane(message.source)} → ${message.targets.map(lane).join(", ")}: `),
    ` ${message.label} `, make("small", {}, fate));
  const right = first > lanes.length / 2;
  told.style.gridColumn = right ? `1 / ${last + 2}` : `${first + 1} / -1`;
  const item = make("li", { class: `message ${message.fate}${message.answer ? " answer" : ""}${right ? " right" : ""}` }, wire, told);
  item.style.gridTemplateColumns = `repeat(${lanes.length}, minmax(0, 1fr))`;
  return item;
}

function crossing(picture) {
  const heads = make("div", { class: "heads", "aria-hidden": "true" }, ...picture.lanes.map(key =>
    make("b", {}, key in TITLES ? HEADS[key]() : key)));
  heads.style.gridTemplateColumns = `repeat(${picture.lanes.length}, minmax(0, 1fr))`;
  const list = make("ol", { class: "messages", "aria-label": WORDS.messages },
    ...picture.messages.map(message => arrow(message, picture.lanes)));
  list.style.setProperty("--lanes", picture.lanes.length);
  if (!picture.messages.length) list.append(make("li", { class: "none" }, WORDS.quiet));
  return make("div", { class: "crossing" }, heads, list);
}

function inOffice(picture) {
  const parts = Object.entries(picture.controllers).filter(([, rows]) => rows.length);
  return make("article", { class: "lane" }, make("h3", {}, WORDS.controllers),
    ...parts.flatMap(([number, rows]) => [
      make("h4", {}, `${WORDS.broker} ${number}`), make("ul", {}, ...rows.map(row))]),
    parts.length ? null : make("p", { class: "none" }, Object.values(picture.badges).some(one => one.believes !== null) ? WORDS.nobody : WORDS.untold));
}

function drawing(picture, lamps = []) {
  shine(lamps);
  const lanes = make("div", { class: "lanes" + (picture.lanes.length > 6 ? " many" : "") });
  lanes.style.setProperty("--lanes", picture.lanes.length);
  lanes.append(make("article", { class: "lane zk" }, make("h3", {}, WORDS.zookeeper),
    make("ul", {}, ...picture.zookeeper.map(row), ...picture.world.map(row))), inOffice(picture));
  for (const [number, rows] of Object.entries(picture.brokers)) {
    const log = picture.logs[number];
    lanes.append(make("article", { class: "lane" },
      make("h3", { class: "unseen" }, `${WORDS.broker} ${number}`),
      badge(number, picture.badges[number]),
      log ? strip(log, picture.committed, number) : null,
      make("ul", {}, ...rows.map(row))));
  }
  lanes.append(make("article", { class: "lane" }, make("h3", {}, WORDS.clients),
    make("ul", {}, ...picture.clients.map(row))));
  const between = picture.flight.length ? make("article", { class: "lane between" },
    make("h3", {}, WORDS.flight), make("ul", {}, ...picture.flight.map(flight))) : "";
  return [crossing(picture), lanes, between];
}

// ---- a run in the page itself: each row stands in a table once ---------------------------------

function unpacked(frame, table) {
  const rows = number => table[number].map(one => table[one]);
  const each = (number, take) => Object.fromEntries(Object.entries(table[number]).map(([key, one]) => [key, take(table[one], one)]));
  const [label, changes, zookeeper, world, brokers, flying, logs, badges, committed, lamps,
    lanes, controllers, clients, messages] = frame;
  return {
    label, changes,
    picture: {
      zookeeper: rows(zookeeper), world: rows(world), flight: rows(flying), committed,
      lanes: table[lanes], clients: rows(clients), messages: rows(messages),
      controllers: each(controllers, (_, number) => rows(number)),
      brokers: each(brokers, (_, number) => rows(number)),
      logs: each(logs, ([records, hw]) => ({ records: rows(records), hw })),
      badges: each(badges, badge => badge),
    },
    lamps: rows(lamps),
  };
}

async function thaw() {
  FROZEN = window.FROZEN || null;
  if (!window.DEFLATED) return;
  const bytes = Uint8Array.from(atob(window.DEFLATED), one => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  FROZEN = JSON.parse(await new Response(stream).text());
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
    make("li", {}, make("b", {}, `✗ ${lamp.claim}: ${WORDS.broken}. `), lamp.sentence)))];
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
