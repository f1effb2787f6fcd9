// The columns: what filters, sorting, counts and the list read of every row.
const table = {
  rows: 0,
  version: 0, // counts changes, so that what was computed of the columns is known to be old
  isDone: false,
  id: [],
  system: [],
  aspect: [],
  source: [],
  names: { systems: [], aspects: [], categories: [], judges: [] },
  runs: [],
};
const RUN_COLUMNS = ["outcome", "score", "decision", "spans", "severity", "disagreement", "categories", "judges"];

function emptyRun() {
  return Object.fromEntries(RUN_COLUMNS.map((name) => [name, []]));
}

function resetColumns() {
  Object.assign(table, { rows: 0, isDone: false, id: [], system: [], aspect: [], source: [] });
  table.runs = state.head.runs.map(emptyRun);
}

function addColumns(part) {
  table.names = { ...part.names, aspects: allAspects(part.names.aspects) };
  for (const name of ["id", "system", "aspect", "source"]) append(table[name], part[name]);
  table.runs.forEach((run, index) => {
    const added = part.runs[index] ?? {};
    for (const name of RUN_COLUMNS) append(run[name], added[name] ?? []);
  });
  table.rows += part.rows;
  table.version += 1;
  table.isDone = part.done;
  emit("columns");
}

// `push(...many)` would overflow the stack.
function append(column, values) {
  for (const value of values) column.push(value);
}

// HEAD describes the aspects that were known when it was asked for; later ones come as names.
function allAspects(named) {
  const known = state.head.aspects;
  const later = (named ?? []).slice(known.length);
  return [...known, ...later.map((aspect) => (typeof aspect === "string" ? unscaled(aspect) : aspect))];
}

function unscaled(name) {
  return { name, task: "", definition: "", low: 1, high: 5, labels: null };
}

function aspectLabel(index) {
  const aspect = table.names.aspects[index];
  if (!aspect) return "";
  const isAlone = table.names.aspects.filter(({ name }) => name === aspect.name).length === 1;
  return isAlone || !aspect.task ? aspect.name : `${aspect.name} (${aspect.task})`;
}

function aspectOf(number) {
  return table.names.aspects[table.aspect[number]] ?? unscaled("");
}

function systemOf(number) {
  return table.names.systems[table.system[number]] ?? "";
}

function scoreOf(run, number) {
  return table.runs[run]?.score[number] ?? null;
}

function outcomeOf(run, number) {
  const index = table.runs[run]?.outcome[number];
  return index === null || index === undefined ? null : state.head.outcomes[index];
}

function decisionOf(run, number) {
  const index = table.runs[run]?.decision[number];
  return index === null || index === undefined ? null : state.head.decisions[index];
}

// Of two systems that are read side by side: first's row -> second's, by source and aspect.
let partners = new Map();

function pairSystems() {
  partners = new Map();
  if (state.pair === null) return;
  const [first, second] = state.pair.map((name) => table.names.systems.indexOf(name));
  const places = new Map();
  for (let number = table.rows - 1; number >= 0; number -= 1) {
    if (table.system[number] === second) places.set(pairKey(number), number);
  }
  for (let number = 0; number < table.rows; number += 1) {
    const partner = table.system[number] === first ? places.get(pairKey(number)) : undefined;
    if (partner !== undefined && table.source[number] >= 0) partners.set(number, partner);
  }
}

function pairKey(number) {
  return `${table.source[number]} ${table.aspect[number]}`;
}

// What stands beside a row: its run and number, or null.
function besideOf(number) {
  if (state.pair !== null) return partners.has(number) ? { run: 0, number: partners.get(number) } : null;
  return isCompared() ? { run: 1, number } : null;
}

// Second minus first, or null.
function differenceOf(number) {
  const other = besideOf(number);
  const [first, second] = [scoreOf(0, number), other ? scoreOf(other.run, other.number) : null];
  return first === null || second === null ? null : second - first;
}
