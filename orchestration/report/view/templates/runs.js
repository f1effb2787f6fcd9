// The list of runs: filtered by words, sorted by any column, two of them chosen to be compared.
const list = { runs: [], counted: 0, words: "", aspect: "", sort: "begun", isReversed: true, chosen: [] };
const MOST_CHOSEN = 2;
const STATE_WORDS = { open: "not finished", "going on": "running", damaged: "damaged" };
const DECISIONS = ["faulty", "unsure", "ok"];

// A column: heading, value to sort by (null comes last), and what its cell shows.
const COLUMNS = [
  { key: "name", label: "run", value: (run) => run.name.toLowerCase(), cell: drawName },
  { key: "begun", label: "begun", value: (run) => run.begun, cell: drawBegun },
  { key: "data", label: "data", value: (run) => run.data.toLowerCase(), cell: (run) => bdi(run.data) },
  { key: "panel", label: "panel", value: (run) => run.judges.join(" ").toLowerCase(), cell: (run) => bdi(joined(run.judges)) },
  { key: "rows", label: "rows", isNumber: true, value: (run) => run.rows, cell: drawRows },
  { key: "score", label: "mean score", isNumber: true, value: (run) => figuresOf(run)?.mean ?? null, cell: drawMean },
  ...DECISIONS.map((decision) => ({
    key: decision,
    label: decision,
    isNumber: true,
    value: (run) => figuresOf(run)?.shares[decision] ?? null,
    cell: (run) => drawShare(figuresOf(run)?.shares[decision] ?? null, decision),
  })),
  { key: "cost", label: "cost", isNumber: true, value: costOf, cell: drawCost },
];

function isServed() {
  return byId("described") === null;
}

function figuresOf(run) {
  const [task, name] = list.aspect.split("\u0000");
  return run.aspects.find((aspect) => aspect.task === task && aspect.name === name) ?? null;
}

// A page of its own where the server can open the run; a file only names it.
function pageOf(...names) {
  return `${names.length > 1 ? "runs" : "run"}/${names.map(encodeURIComponent).join("/")}/#${readFragment().token}`;
}

function drawName(run) {
  const name = isServed() && run.state !== "damaged" ? h("a", { href: pageOf(run.name) }, bdi(run.name)) : bdi(run.name);
  return [
    name,
    STATE_WORDS[run.state] && h("span.state", { "data-state": run.state }, STATE_WORDS[run.state]),
    run.is_marked && h("span.state", {}, "marked"),
    run.problem && h("span.problem", {}, run.problem),
  ];
}

// In the reader's own time zone; this locale writes dates as ISO 8601 does.
function drawBegun(run) {
  const local = new Date(run.begun).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
  return h("time", { datetime: run.begun, title: run.begun }, local);
}

function drawRows(run) {
  if (run.rows === null) return "–";
  return run.of === null || run.of === run.rows ? inThousands(run.rows) : `${inThousands(run.rows)} of ${inThousands(run.of)}`;
}

// A mean never stands without its coverage where rows lack a score.
function drawMean(run) {
  const figures = figuresOf(run);
  if (figures === null || figures.mean === null) return "–";
  const isPart = figures.scored < figures.rows;
  return [h("b", {}, inDigits(figures.mean)), isPart && h("small", {}, ` scored ${inThousands(figures.scored)} of ${inThousands(figures.rows)}`)];
}

function drawShare(share, decision) {
  if (share === null) return "–";
  const bar = styled(h("span.share-bar", { "data-decision": decision, "aria-hidden": "true" }), { width: `${(100 * share).toFixed(1)}%` });
  return [`${inPercent(share)} %`, h("span.share", {}, bar)];
}

// One unit for all runs: dollars unless the price of a model is unknown.
function costUnit() {
  return list.runs.some(({ calls, dollars }) => calls > 0 && dollars === null) ? "tokens" : "dollars";
}

function costOf(run) {
  return run.calls === null ? null : run[costUnit()];
}

function drawCost(run) {
  if (run.calls === null) return "–";
  if (run.calls === 0) return h("span.none", {}, "no calls");
  const tokens = `${inThousands(run.tokens)} tokens`;
  const words = costUnit() === "tokens" ? tokens : `$${run.dollars < 0.01 && run.dollars > 0 ? run.dollars.toPrecision(1) : run.dollars.toFixed(2)}`;
  return h("span", { title: `${counted(run.calls, "call")}, ${tokens}` }, words);
}

function allAspects() {
  const named = new Map();
  for (const { aspects } of list.runs) {
    for (const { task, name } of aspects) {
      const key = `${task}\u0000${name}`;
      named.set(key, { key, task, name, runs: (named.get(key)?.runs ?? 0) + 1 });
    }
  }
  return [...named.values()].sort((a, b) => b.runs - a.runs || a.name.localeCompare(b.name));
}

function passing() {
  const words = list.words.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const holds = (run) => {
    const text = [run.name, run.data, run.state, STATE_WORDS[run.state] ?? "", run.is_marked ? "marked" : "", ...run.judges, ...run.aspects.map(({ name }) => name)].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return list.runs.filter(holds).sort(bySort);
}

function bySort(first, second) {
  const { value } = COLUMNS.find(({ key }) => key === list.sort) ?? COLUMNS[1];
  const [a, b] = [value(first), value(second)];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = a < b ? -1 : Number(a > b);
  return list.isReversed ? -order : order;
}

function sortBy(key) {
  list.isReversed = list.sort === key ? !list.isReversed : (COLUMNS.find((column) => column.key === key).isNumber ?? key === "begun");
  list.sort = key;
  draw();
}

function toggle(name) {
  const others = list.chosen.filter((each) => each !== name);
  list.chosen = others.length < list.chosen.length ? others : [...others, name].slice(-MOST_CHOSEN);
  draw();
}

function drawHead() {
  const heads = COLUMNS.map(({ key, label, isNumber }) => {
    const isSorted = key === list.sort;
    const sign = h("span.sign", { "aria-hidden": "true" }, isSorted ? (list.isReversed ? "▼" : "▲") : "");
    const turn = button(isNumber ? [sign, label] : [label, sign], () => sortBy(key), { kind: ".sort", "data-focus": `sort ${key}` });
    return h(`th${isNumber ? ".number" : ""}`, { scope: "col", "aria-sort": isSorted ? (list.isReversed ? "descending" : "ascending") : null }, turn);
  });
  return h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span.unseen", {}, "choose")), heads));
}

function drawRun(run) {
  const isChosen = list.chosen.includes(run.name);
  const box = h("input", { type: "checkbox", checked: isChosen, "aria-label": `Choose ${run.name}`, onchange: () => toggle(run.name), "data-focus": `choose ${run.name}` });
  const cells = COLUMNS.map(({ key, label, isNumber, cell }) => h(`td.of-${key}${isNumber ? ".number" : ""}`, { "data-label": label }, cell(run)));
  return h(`tr${isChosen ? ".is-chosen" : ""}`, {}, h("td.of-box", {}, h("label", {}, box)), cells);
}

function drawChosen() {
  const names = list.chosen;
  const clear = () => {
    list.chosen = [];
    draw();
  };
  const clearing = button("Clear", clear, { kind: ".quiet", "data-focus": "clear" });
  if (names.length === 0) return fill("chosen", h("p.note", {}, "Choose two runs to compare them."));
  if (names.length === 1) return fill("chosen", h("p", {}, h("b", {}, bdi(names[0])), " is chosen; choose a second run to compare them."), clearing);
  const path = (name) => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
  const words = names.map(path).join(" ");
  fill(
    "chosen",
    isServed() ? h("a.compare", { href: pageOf(...names) }, "Compare ", bdi(names[0]), " with ", bdi(names[1])) : h("p", {}, "See both texts by text: ", h("code", {}, `spanjury view ${words}`)),
    h("p.note", {}, "Test the difference, in the folder of the runs: ", h("code", {}, `spanjury compare ${words}`)),
    clearing,
  );
}

// The search is drawn once, so that what is being typed stays.
function drawSearch() {
  const search = h("input", {
    id: "search",
    type: "search",
    placeholder: "Filter by words",
    "aria-label": "Show the runs whose name, data, panel, aspects or state contain all of these words",
    value: list.words,
    oninput: (event) => {
      list.words = event.target.value;
      draw();
    },
  });
  fill("controls", search, h("span", { id: "choices" }));
}

function drawChoices() {
  const aspects = allAspects();
  if (!aspects.some(({ key }) => key === list.aspect)) list.aspect = aspects[0]?.key ?? "";
  const label = ({ task, name }) => (aspects.filter((aspect) => aspect.name === name).length > 1 ? `${name} (${task})` : name);
  const chooseAspect = (event) => {
    list.aspect = event.target.value;
    draw();
  };
  const options = aspects.map((each) => h("option", { value: each.key, selected: each.key === list.aspect }, label(each)));
  const columns = COLUMNS.map(({ key, label: words }) => h("option", { value: key, selected: key === list.sort }, words));
  fill(
    "choices",
    aspects.length > 0 && h("label.field", {}, "Scores and decisions on ", h("select", { id: "aspect", onchange: chooseAspect, "data-focus": "aspect" }, options)),
    h(
      "span.field.only-narrow",
      {},
      h("label", {}, "Sort by ", h("select", { id: "sort", onchange: (event) => sortBy(event.target.value), "data-focus": "sort" }, columns)),
      button("⇅", () => sortBy(list.sort), { title: "Reverse the order", "aria-label": "Reverse the order", "data-focus": "turn" }),
    ),
  );
}

function draw() {
  const focused = document.activeElement?.dataset?.focus;
  drawChoices();
  const shown = passing();
  const table = h("table", {}, drawHead(), h("tbody", {}, shown.map(drawRun)));
  fill("runs", shown.length > 0 ? table : h("p.empty", {}, "No run contains all of these words."));
  drawChosen();
  const all = counted(list.runs.length, "run");
  const reading = list.counted < list.runs.length ? ` · reading their results: ${list.counted} of ${list.runs.length} are read` : "";
  byId("count").textContent = `${shown.length === list.runs.length ? all : `${shown.length} of ${all}`}${reading}`;
  if (focused) document.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  saveList();
}

// The address keeps what is filtered, sorted and chosen: the browser's "back" leads to the same list.
function saveList() {
  const values = new URLSearchParams();
  if (list.words !== "") values.set("words", list.words);
  if (list.aspect !== "") values.set("aspect", list.aspect);
  values.set("sort", list.sort);
  if (list.isReversed) values.set("reversed", "1");
  for (const name of list.chosen) values.append("chosen", name);
  const { token } = readFragment();
  history.replaceState(null, "", `#${[token, values.toString()].filter((piece) => piece !== "").join("&")}`);
}

function restoreList() {
  const { values } = readFragment();
  list.words = values.get("words") ?? "";
  list.aspect = values.get("aspect") ?? "";
  list.chosen = values.getAll("chosen").slice(0, MOST_CHOSEN);
  if (!values.has("sort")) return;
  list.sort = values.get("sort");
  list.isReversed = values.has("reversed");
}

function take({ runs, counted: read }) {
  Object.assign(list, { runs, counted: read });
  const known = new Set(runs.map(({ name }) => name));
  list.chosen = list.chosen.filter((name) => known.has(name));
  draw();
}

async function ask() {
  const response = await fetch(`api/runs?counted=${list.counted}`, { headers: { Authorization: `Bearer ${readFragment().token}` } });
  const body = await response.json();
  if (!response.ok) throw new Error(body.title ?? `status ${response.status}`);
  return body;
}

async function start() {
  restoreList();
  drawSearch();
  if (!isServed()) return take(JSON.parse(byId("described").textContent));
  do take(await ask());
  while (list.counted < list.runs.length);
}

start()
  .catch((error) => {
    byId("trouble").textContent = `The list cannot be read: ${error.message}`;
    byId("trouble").hidden = false;
  })
  .finally(() => {
    document.body.dataset.ready = "true";
  });
