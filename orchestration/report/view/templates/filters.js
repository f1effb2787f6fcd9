// Which rows pass, in which order, and what of them is counted: one walk over the columns.
const DIRECTIONS = {
  verdict: ["Verdict, worst first", (number) => -(gravityOf(number) ?? NaN)],
  file: ["Order of the file", (number) => number],
  score: ["Score, lowest first", (number) => runColumn("score")[number] ?? NaN],
  disagreement: ["Disagreement, highest first", (number) => -(runColumn("disagreement")[number] ?? NaN)],
  spans: ["Spans, most first", (number) => -(runColumn("spans")[number] ?? NaN)],
  severity: ["Severity, worst first", (number) => -(runColumn("severity")[number] ?? NaN)],
  outcome: ["Outcome, failures first", (number) => -(runColumn("outcome")[number] ?? NaN)],
  difference: ["Difference, largest first", (number) => -Math.abs(differenceOf(number) ?? NaN)],
};
const BLIND_ORDERS = ["file", "random"]; // which need nothing that judges said
const counts = { facets: new Map(), means: [], passed: 0, unpaired: 0 };
let sorted = { by: "", numbers: [] };

// The decision, and among equal ones the probability of an error; null without a decision.
function gravityOf(number) {
  const decision = runColumn("decision")[number] ?? null;
  return decision === null ? null : 2 * decision + (runColumn("error_probability")[number] ?? 0);
}

// The order of all rows is kept: a filter only walks it. What has no value comes last, either way.
function sortedNumbers() {
  const by = [table.version, state.sort, state.isReversed, state.run, state.pair?.join("\u0000")].join(" ");
  if (sorted.by === by) return sorted.numbers;
  const numbers = Uint32Array.from({ length: table.rows }, (_, number) => number);
  if (state.sort !== "file" || state.isReversed) numbers.sort(comparison());
  sorted = { by, numbers };
  return numbers;
}

function comparison() {
  const [, value] = DIRECTIONS[state.sort] ?? DIRECTIONS.file;
  const turn = state.isReversed ? -1 : 1;
  const values = Float64Array.from({ length: table.rows }, (_, number) => turn * value(number));
  const filled = values.map((each) => (Number.isNaN(each) ? Infinity : each));
  return (a, b) => (filled[a] === filled[b] ? a - b : filled[a] < filled[b] ? -1 : 1);
}

// A facet's counts are of the rows that pass all others, so that each says what choosing it gives.
function applyFilters() {
  const facets = FACETS.filter(isWanted);
  const allowed = facets.map(allowedOf);
  const values = facets.map(valuesOf);
  startCounts(facets);
  const counted = facets.map(({ key }) => counts.facets.get(key));
  const order = [];
  for (const number of sortedNumbers()) {
    if (!isConsidered(number)) continue;
    const failed = failedFacet(number, { facets, allowed, values });
    if (failed === MANY) continue;
    countRow(number, { facets, counted, values, failed });
    if (failed === NONE) order.push(number);
  }
  state.order = order;
  counts.passed = order.length;
  emit("order");
}

const [NONE, MANY] = [-1, -2];

function failedFacet(number, { facets, allowed, values }) {
  let failed = NONE;
  for (let at = 0; at < facets.length; at += 1) {
    if (allowed[at] === null || passes(facets[at], allowed[at], values[at][number])) continue;
    if (failed !== NONE) return MANY;
    failed = at;
  }
  return failed;
}

function isConsidered(number) {
  if (state.matches !== null && !state.matches.has(number)) return false;
  return state.pair === null || partners.has(number);
}

function startCounts(facets) {
  counts.facets = new Map(facets.map((facet) => [facet.key, new Uint32Array(facet.size())]));
  counts.means = table.names.aspects.map(() => [emptyMean(), emptyMean()]);
}

function emptyMean() {
  return { rows: 0, scored: 0, sum: 0 };
}

function countRow(number, { facets, counted, values, failed }) {
  for (let at = 0; at < facets.length; at += 1) {
    if (failed !== NONE && failed !== at) continue;
    const value = values[at][number];
    if (facets[at].isMany) for (const each of value) counted[at][each] += 1;
    else if (value >= 0) counted[at][value] += 1;
  }
  if (failed !== NONE) return;
  const pair = pairOf(number) ?? [{ run: 0, number }];
  pair.forEach((each, side) => addToMean(counts.means[table.aspect[number]][side], each.run, each.number));
}

// A row that a run does not have has no outcome, and is no part of its coverage.
function addToMean(mean, run, number) {
  if (outcomeOf(run, number) === null) return;
  mean.rows += 1;
  const score = scoreOf(run, number);
  if (score === null) return;
  mean.scored += 1;
  mean.sum += score;
}

on("columns", findPartners);
on("columns", applyFilters);
on("filters", applyFilters);
on("filters", saveState);
on("row", saveState);
