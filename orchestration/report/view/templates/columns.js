// The columns: what filters, sorting, counts and the list read of every row.
const table = {
  rows: 0,
  version: 0, // counts changes, so that what was computed of the columns is known to be old
  isDone: false,
  id: [],
  system: [],
  aspect: [],
  source: [],
  condition: [], // of an exam: index of what was done to the text
  clean: new Map(), // of an exam: number of a row -> id of the text that it is compared with
  names: { systems: [], aspects: [], conditions: [], categories: [], judges: [] },
  runs: [],
};
const RUN_COLUMNS = ["outcome", "score", "decision", "error_probability", "spans", "severity", "disagreement", "categories", "judges", "caught"];

function emptyRun() {
  return Object.fromEntries(RUN_COLUMNS.map((name) => [name, []]));
}

function resetColumns() {
  Object.assign(table, { rows: 0, isDone: false, id: [], system: [], aspect: [], source: [], condition: [], clean: new Map() });
  table.runs = state.head.runs.map(emptyRun);
}

function addColumns(part) {
  table.names = { ...part.names, aspects: allAspects(part.names.aspects) };
  for (const name of ["id", "system", "aspect", "source"]) append(table[name], part[name]);
  append(table.condition, part.condition ?? []);
  for (const [index, id] of Object.entries(part.clean ?? {})) table.clean.set(table.rows + Number(index), id);
  table.runs.forEach((run, index) => {
    const added = part.runs[index] ?? {};
    for (const name of RUN_COLUMNS) append(run[name], added[name] ?? []);
  });
  table.rows += part.rows;
  table.version += 1;
  table.isDone = part.done;
  startWithClean();
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

function conditionOf(number) {
  return table.names.conditions?.[table.condition[number]] ?? "";
}

// An exam has texts that were made of others; all else that is read here has none.
function isExam() {
  return table.clean.size > 0;
}

// Of an exam, the shorter id of a text and its original: the other one has its condition behind it.
function originalId(number) {
  const ids = [table.id[number], table.clean.get(number) ?? table.id[number]];
  return ids[1].length < ids[0].length ? ids[1] : ids[0];
}

// Of rows that are read side by side: each row of the list -> the row beside it.
let partners = new Map();

function findPartners() {
  partners = new Map();
  if (state.pair === CLEAN_PAIR) pairWithClean();
  else if (state.pair !== null) pairSystems();
}

// By source and aspect.
function pairSystems() {
  const [first, second] = state.pair.map((name) => table.names.systems.indexOf(name));
  const rows = new Map();
  for (let number = table.rows - 1; number >= 0; number -= 1) {
    if (table.system[number] === second) rows.set(pairKey(number), number);
  }
  for (let number = 0; number < table.rows; number += 1) {
    const partner = table.system[number] === first ? rows.get(pairKey(number)) : undefined;
    if (partner !== undefined && table.source[number] >= 0) partners.set(number, partner);
  }
}

function pairKey(number) {
  return `${table.source[number]} ${table.aspect[number]}`;
}

function pairWithClean() {
  const key = (id, number) => `${table.aspect[number]} ${table.system[number]} ${id}`;
  const rows = new Map(table.id.map((id, number) => [key(id, number), number]));
  for (const [number, id] of table.clean) {
    const partner = rows.get(key(id, number));
    if (partner !== undefined) partners.set(number, partner);
  }
}

// The two results that a row of the list stands for, each as run and number, in reading order; or null.
function pairOf(number) {
  if (state.pair === null) return isCompared() ? [0, 1].map((run) => ({ run, number })) : null;
  if (!partners.has(number)) return null;
  const pair = [number, partners.get(number)].map((each) => ({ run: 0, number: each }));
  return state.pair === CLEAN_PAIR ? pair.reverse() : pair;
}

// Second minus first, or null.
function differenceOf(number) {
  const [first, second] = (pairOf(number) ?? []).map((each) => scoreOf(each.run, each.number));
  return (first ?? null) === null || (second ?? null) === null ? null : second - first;
}
