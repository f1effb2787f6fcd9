// Facets: what rows are filtered by, each with the values a row has and how they are called.
// `of(number)` is the index of a row's value, or -1; with `isMany`, a list of them.
const SCORE_BINS = 8;
const NO_VALUES = [];

function runColumn(name) {
  return table.runs[state.run]?.[name] ?? NO_VALUES;
}

function named(column) {
  return (number) => runColumn(column)[number] ?? -1;
}

let range = { of: null, low: 1, high: 5 };

// From the lowest score of any aspect to the highest.
function scoreRange() {
  if (range.of === table.names.aspects) return range;
  const scales = table.names.aspects.length > 0 ? table.names.aspects : [unscaled("")];
  const [low, high] = [Math.min(...scales.map((scale) => scale.low)), Math.max(...scales.map((scale) => scale.high))];
  range = { of: table.names.aspects, low, high };
  return range;
}

function scoreBin(number) {
  const score = runColumn("score")[number] ?? null;
  if (score === null) return -1;
  const { low, high } = scoreRange();
  return Math.min(SCORE_BINS - 1, Math.max(0, Math.floor(((score - low) / (high - low || 1)) * SCORE_BINS)));
}

function scoreBinName(bin) {
  const { low, high } = scoreRange();
  const edge = (at) => plainNumber(low + ((high - low) * at) / SCORE_BINS);
  return `${edge(bin)} to ${edge(bin + 1)}`;
}

function plainNumber(value) {
  return String(Number(value.toFixed(2)));
}

// 0 has a bar of its own: the seats agree.
function disagreementBin(number) {
  const value = runColumn("disagreement")[number] ?? null;
  if (value === null) return -1;
  const { low, high } = scoreRange();
  return Math.min(SCORE_BINS, Math.ceil((value / (high - low || 1)) * SCORE_BINS - 1e-9));
}

function disagreementName(bin) {
  const { low, high } = scoreRange();
  const edge = (at) => plainNumber(((high - low) * at) / SCORE_BINS);
  return bin === 0 ? "none" : `up to ${edge(bin)}`;
}

// From -4 to +4 of a scale from 1 to 5: one bar below for each above, 0 in the middle.
function differenceBin(number) {
  const value = differenceOf(number);
  if (value === null) return -1;
  const { low, high } = scoreRange();
  const steps = Math.round((value / (high - low || 1)) * SCORE_BINS);
  return SCORE_BINS / 2 + Math.max(-SCORE_BINS / 2, Math.min(SCORE_BINS / 2, steps));
}

function differenceName(bin) {
  const { low, high } = scoreRange();
  const middle = plainNumber(Math.abs(((bin - SCORE_BINS / 2) * (high - low)) / SCORE_BINS));
  const end = bin === 0 || bin === SCORE_BINS ? " or more" : "";
  if (bin === SCORE_BINS / 2) return "about equal";
  return `second ${bin < SCORE_BINS / 2 ? "lower" : "higher"} by about ${middle}${end}`;
}

const HIGHEST_SEVERITY = 5;
const CAUGHT_WORDS = ["missed", "partly caught", "caught"];
const FACETS = [
  {
    key: "condition",
    label: "Condition",
    isWanted: () => state.blind === null,
    size: () => table.names.conditions?.length ?? 0,
    name: (index) => table.names.conditions[index] || "(none)",
    of: (number) => table.condition[number] ?? -1,
  },
  {
    key: "caught",
    label: () => (isExam() ? "Planted spans" : "People's spans"),
    size: () => CAUGHT_WORDS.length,
    name: (index) => CAUGHT_WORDS[index],
    of: named("caught"),
  },
  { key: "score", label: "Score", isBars: true, size: () => SCORE_BINS, name: scoreBinName, of: scoreBin },
  {
    key: "severity",
    label: "Worst severity, at least",
    isBars: true,
    isAtLeast: true,
    size: () => HIGHEST_SEVERITY + 1,
    name: (index) => (index === 0 ? "no span" : String(index)),
    of: (number) => Math.min(HIGHEST_SEVERITY, Math.ceil(runColumn("severity")[number] ?? -1)),
  },
  {
    key: "disagreement",
    label: "Disagreement of seats",
    isBars: true,
    size: () => SCORE_BINS + 1,
    name: disagreementName,
    of: disagreementBin,
  },
  {
    key: "difference",
    label: "Difference of scores",
    isBars: true,
    isWanted: isBeside,
    size: () => SCORE_BINS + 1,
    name: differenceName,
    of: differenceBin,
  },
  {
    key: "aspect",
    label: "Aspect",
    size: () => table.names.aspects.length,
    name: aspectLabel,
    of: (number) => table.aspect[number],
  },
  {
    key: "system",
    label: "System",
    isWanted: () => state.pair === null,
    size: () => table.names.systems.length,
    name: (index) => table.names.systems[index] || "(no name)",
    of: (number) => table.system[number],
  },
  {
    key: "outcome",
    label: "Outcome",
    size: () => state.head.outcomes.length,
    name: (index) => outcomeWords(state.head.outcomes[index]),
    of: named("outcome"),
  },
  {
    key: "decision",
    label: "Decision",
    size: () => state.head.decisions.length,
    name: (index) => DECISION_WORDS[state.head.decisions[index]] ?? state.head.decisions[index],
    of: named("decision"),
  },
  {
    key: "category",
    label: "Category of a span",
    isMany: true,
    size: () => table.names.categories.length,
    name: (index) => table.names.categories[index] || "(none)",
    of: (number) => runColumn("categories")[number] ?? NO_VALUES,
  },
  {
    key: "seat",
    label: "Seat that marked a span",
    isMany: true,
    size: () => table.names.judges.length,
    name: (index) => table.names.judges[index],
    of: (number) => runColumn("judges")[number] ?? NO_VALUES,
  },
];

function isWanted(facet) {
  return facet.isWanted ? facet.isWanted() : true;
}

// Bars are kept in the address by number, all others by name: names come while the data are read.
function keyOf(facet, index) {
  return facet.isBars ? String(index) : facet.name(index);
}

// Per value, whether rows that have it pass; null where nothing is chosen.
function allowedOf(facet) {
  const chosen = state.filters.get(facet.key);
  if (!chosen || chosen.size === 0 || !isWanted(facet)) return null;
  return Uint8Array.from({ length: facet.size() }, (_, index) => (chosen.has(keyOf(facet, index)) ? 1 : 0));
}

// What every row has, read once for all filters until other rows, another run or pair are read.
const readValues = new Map();

function valuesOf(facet) {
  const of = [table.version, state.run, state.pair?.join("\u0000")].join(" ");
  const before = readValues.get(facet.key);
  if (before?.of === of) return before.values;
  const values = facet.isMany ? Array.from({ length: table.rows }) : new Int32Array(table.rows);
  for (let number = 0; number < table.rows; number += 1) values[number] = facet.of(number);
  readValues.set(facet.key, { of, values });
  return values;
}

// A row of many values passes by any of them.
function passes(facet, allowed, value) {
  if (!facet.isMany) return value >= 0 && allowed[value] === 1;
  for (const each of value) if (allowed[each] === 1) return true;
  return false;
}

function toggleValue(facet, index) {
  const before = state.filters.get(facet.key) ?? new Set();
  const key = keyOf(facet, index);
  const chosen = facet.isAtLeast ? atLeast(facet, index, before) : new Set(before);
  if (!facet.isAtLeast && !chosen.delete(key)) chosen.add(key);
  if (chosen.size === 0) state.filters.delete(facet.key);
  else state.filters.set(facet.key, chosen);
  changeFilters();
}

// The same bar again takes the limit away; "no span" is a value of its own.
function atLeast(facet, index, before) {
  const from = index === 0 ? ["0"] : Array.from({ length: facet.size() - index }, (_, at) => String(index + at));
  const isSame = before.size === from.length && from.every((key) => before.has(key));
  return new Set(isSame ? [] : from);
}
