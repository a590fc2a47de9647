"use strict";
// The start page: one run that moves, and a folder of logs that is checked on this machine.

// An address of a run that was made for this page's older form opens in the explorer.
if (location.hash.length > 1) location.replace("/play" + location.search + location.hash);

const TICK = 1300;
let run = null, table = [], at = 0, timer = 0;

function showAt(count) {
  at = count;
  const frame = unpacked(run.frames[at], table);
  $("now").textContent = `${at}. ${at ? frame.words : WORDS.beginning}`;
  $("board").replaceChildren(...drawing(frame.picture, frame.lamps), ...alarm(frame.lamps));
}

function playing(on) {
  clearTimeout(timer);
  $("pause").textContent = on ? WORDS.pause : WORDS.play1;
  const next = () => {
    if (at + 1 >= run.frames.length) { playing(false); return; }
    showAt(at + 1);
    timer = setTimeout(next, TICK);
  };
  timer = on ? setTimeout(next, TICK) : 0;
}

async function moving() {
  const answer = await fetch("/api/moving");
  if (!answer.ok) throw new Error(await answer.text());
  ({ run, table } = await answer.json());
  showAt(run.begins);
  $("pause").addEventListener("click", () => {
    if (!timer && at + 1 >= run.frames.length) showAt(0);
    playing(!timer);
  });
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playing(true);
}

// ---- logs --------------------------------------------------------------------------------------

async function within(entry, path) {              // the files of a dropped folder
  const name = path + entry.name;
  if (entry.isFile) return [[name, await new Promise((done, no) => entry.file(done, no))]];
  const reader = entry.createReader(), found = [];
  for (;;) {                                      // a hundred at a time
    const some = await new Promise((done, no) => reader.readEntries(done, no));
    if (!some.length) break;
    for (const one of some) found.push(...await within(one, name + "/"));
  }
  return found;
}

async function answered(path, options) {
  const answer = await fetch(path, { method: "POST", ...options });
  const found = await answer.json().catch(() => ({ error: answer.statusText }));
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

async function check(files) {
  $("report").replaceChildren(); $("everything").hidden = true;
  try {
    if (!files.length) throw new Error("no file was dropped");
    const { set } = await answered("/api/logs");
    for (const [n, [name, file]] of files.entries()) {
      $("verdict").textContent = `reading ${n + 1} of ${files.length}: ${name}`;
      await answered(`/api/logs/${set}?name=${encodeURIComponent(name)}`, { body: file });
    }
    $("verdict").textContent = `checking ${files.length} files…`;
    const found = await answered(`/api/logs/${set}/check`);
    $("verdict").textContent = found.verdict;
    $("output").textContent = found.output; $("everything").hidden = !found.output;
    $("everything").open = !found.report;         // the report says it better, where there is one
    if (found.report) $("report").replaceChildren(make("iframe", { src: found.report, title: "Report", sandbox: "allow-scripts" }));
  } catch (error) { $("verdict").textContent = error.message; }
}

function drops() {
  const place = $("drop");
  addEventListener("dragover", event => { event.preventDefault(); place.classList.add("over"); });
  addEventListener("dragleave", () => place.classList.remove("over"));
  addEventListener("drop", async event => {
    event.preventDefault(); place.classList.remove("over");
    const entries = [...event.dataTransfer.items].map(one => one.webkitGetAsEntry()).filter(one => one);
    check((await Promise.all(entries.map(one => within(one, "")))).flat());
  });
  $("folder").addEventListener("change", () => check([...$("folder").files].map(one => [one.webkitRelativePath || one.name, one])));
}

drops();
moving().catch(error => { $("now").textContent = error.message; });
