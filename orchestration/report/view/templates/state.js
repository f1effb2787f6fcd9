// The names of an exam's texts that are read side by side.
const CLEAN_PAIR = ["original", "changed"];

const DEFAULT_SORT = "verdict"; // so that the page opens on the worst text

// What the page shows now, who listens to changes of it, and the parts that hook in.
const state = {
  head: null,
  filters: new Map(), // key of a facet -> Set of the values chosen, as text
  query: "",
  matches: null, // null, or the Set of numbers that have the query's text
  sort: DEFAULT_SORT,
  isReversed: false,
  run: 0, // of two, the one whose columns filters and histograms read
  pair: null, // two names of systems that are read side by side, or CLEAN_PAIR
  order: [], // numbers of the rows that pass, sorted
  chosen: -1, // number of the row that is shown
  shown: null, // { number, row, text, other }: what was drawn last
  hiddenSeats: new Set(), // names whose spans are not drawn
  onlySeat: null, // { side, name }: this seat's own spans are drawn instead of the panel's
  isRaw: false, // Markdown is drawn as it is written
  isGoldShown: null, // null: where an exam planted them, or rows are filtered by them
  blind: null, // the annotator who must not see results
};

// Events: "head", "columns", "filters", "order", "row", "drawn", "seats", "span".
const listeners = new Map();

function on(event, listen) {
  if (!listeners.has(event)) listeners.set(event, []);
  listeners.get(event).push(listen);
}

function emit(event, detail = null) {
  for (const listen of listeners.get(event) ?? []) listen(detail);
}

// A part may have: begin(), tools(), badge(number), above(shown), below(shown), onCard(mark, shown), keys.
const parts = [];

function addPart(part) {
  parts.push(part);
}

function fromParts(slot, ...values) {
  return parts.flatMap((part) => (part[slot] ? [part[slot](...values)] : [])).filter((made) => made);
}

function isCompared() {
  return state.head.runs.length > 1;
}

function isBeside() {
  return isCompared() || state.pair !== null;
}

function choose(number, { isKept = false } = {}) {
  if (number === state.chosen && !isKept) return;
  state.chosen = number;
  state.onlySeat = null;
  emit("row", number);
}

function changeFilters() {
  emit("filters");
}
