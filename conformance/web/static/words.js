"use strict";
// Every text of the page, so that it can be translated in one place.
const WORDS = {
  system: "system", version: "version", brokers: "brokers", thrown: "thrown back",
  begin: "Begin", lessons: "Lessons", projector: "Projector", can: "What can happen", cannot: "What cannot, and why",
  run: "The run", back: "← Back", forward: "Forward →", anew: "⟲ Anew",
  saves: "Which guard saves us?", keep: "Keep as a story", claims: "Claims",
  zookeeper: "ZooKeeper and the world", flight: "In flight, and between brokers",
  broker: "broker", log: "log", hw: "hw", empty: "empty", committed: "committed",
  beginning: "the beginning", nothing: "Nothing can happen here.",
  none: "nothing thrown back", up: "runs", down: "down", registered: "registered",
  unregistered: "not registered", believes: "believes it is the controller",
  controls: "owns /controller", leader: "registered leader", role: "role",
  holds: "holds", broken: "broken", reached: "reached here", notyet: "not here",
  way: "Shortest way", looking: "Looking for the shortest way…",
  noSave: "No guard stands alone here: every refused step has two reasons, or does no harm.",
  savedBy: "without", wouldBreak: "would break", other: "more choices", changes: "more changes", branch: "Other branch",
  foreign: "This address is of another game than the model can play:", nearest: "the nearest is",
  lockstep: "In lock-step", first: "First difference (d)", ended: "This run has ended.", step: "step",
  differ: "the states differ", alike: "alike", play: "Play", compare: "Compare", under: "The same steps under",
  lay: "beside this run", noComparison: "Nothing was given to compare; write: insync compare A B --open",
  played: "state", changed: "changed", ready: "Ready.",
};
