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

function row(item) {
  return make("li", { class: (item.changed ? "changed " : "") + (item.ghost ? "ghost" : ""), title: item.path },
    make("span", { class: "name" }, item.part === "zk" || item.name === item.part ? item.name : item.part + "." + item.name),
    make("span", { class: "value" }, item.text),
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

function strip(log, committed) {
  const list = make("ol", { class: "log", "aria-label": WORDS.log });
  log.records.forEach((record, offset) => {
    const about = Object.entries(record).map(([k, v]) => `${k} ${v}`).join(", ");
    list.append(make("li", { class: epochColour(record.epoch) + (offset < committed ? " committed" : "") + (log.hw === offset ? " hw" : ""), title: about },
      make("b", {}, String(record.id ?? record.value ?? "•")),
      make("small", {}, "e" + (record.epoch ?? "?"))));
  });
  if (!log.records.length) list.append(make("li", { class: "empty" }, WORDS.empty));
  return make("div", { class: "strip" }, list,
    log.hw === null || log.hw === undefined ? null : make("span", { class: "mark" }, `${WORDS.hw} ${log.hw}`));
}

function flight(item) {
  const parties = item.keys.map((key, n) => item.sorts[n] === "broker" ? `${WORDS.broker} ${key}` : `${item.sorts[n]} ${key}`);
  return make("li", { class: item.changed ? "changed" : "" },
    make("span", { class: "name" }, item.part),
    make("span", { class: "arrow" }, parties.join(" → ")),
    make("span", { class: "value" }, item.values.map(one => one.text === "true" ? one.name : `${one.name} ${one.text}`.trim()).join(" · ")),
    item.changed ? make("span", { class: "unseen" }, " " + WORDS.changed) : null);
}

function drawing(picture) {
  const lanes = make("div", { class: "lanes" });
  lanes.append(make("article", { class: "lane zk" }, make("h3", {}, WORDS.zookeeper),
    make("ul", {}, ...picture.zookeeper.map(row), ...picture.world.map(row))));
  for (const [number, rows] of Object.entries(picture.brokers)) {
    const log = picture.logs[number];
    lanes.append(make("article", { class: "lane" },
      make("h3", { class: "unseen" }, `${WORDS.broker} ${number}`),
      badge(number, picture.badges[number]),
      log ? strip(log, picture.committed) : null,
      make("ul", {}, ...rows.map(row))));
  }
  const between = make("article", { class: "lane between" }, make("h3", {}, WORDS.flight),
    make("ul", {}, ...picture.flight.map(flight)));
  return [lanes, between];
}

// ---- a run in the page itself: each row stands in a table once ---------------------------------

function unpacked(frame, table) {
  const rows = number => table[number].map(one => table[one]);
  const each = (number, take) => Object.fromEntries(Object.entries(table[number]).map(([key, one]) => [key, take(table[one], one)]));
  const [label, changes, zookeeper, world, brokers, flying, logs, badges, committed, lamps] = frame;
  return {
    label, changes,
    picture: {
      zookeeper: rows(zookeeper), world: rows(world), flight: rows(flying), committed,
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
