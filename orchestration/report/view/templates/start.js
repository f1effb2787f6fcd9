// The start: the head, then the columns as they come, then the row.
async function start() {
  openSource();
  restoreState();
  document.body.dataset.place = state.chosen >= 0 ? "row" : "list";
  state.head = await source.head();
  drawHead();
  resetColumns();
  startList();
  drawControls();
  for (const part of parts) part.begin?.();
  emit("head");
  await readColumns();
  if (state.query !== "") searchSoon();
}

function drawHead() {
  const { runs, title, notes } = state.head;
  const name = isCompared() ? [bdi(runs[0].name), h("span.beside", {}, " beside "), bdi(runs[1].name)] : bdi(title);
  byId("title").replaceChildren(...[name].flat());
  fill("notes", (notes ?? []).map((note) => h("p.note", {}, note)));
  const judges = [...new Set(runs.flatMap((run) => run.judges ?? []))];
  const isOpenedFromList = source.isServed && location.pathname !== "/";
  fill("about-line", isOpenedFromList && h("a", { href: `/#${readFragment().token}` }, "All runs"), judges.length > 0 && h("span", {}, bdi(clipped(joined(judges), 90))), unfinished(runs));
  drawTools();
}

function unfinished(runs) {
  const names = runs.filter(({ is_done: isDone }) => !isDone).map(({ name }) => name);
  return names.length > 0 ? h("span.unsure", {}, "not finished: rows may be missing") : null;
}

const PAUSE = 250; // milliseconds between two questions, where the server has read nothing more

async function readColumns() {
  while (!table.isDone) {
    const part = await source.columns(table.rows);
    addColumns(part);
    showFirst();
    if (part.rows === 0 && !part.done) await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  if (source.isServed) state.head = await source.head(); // now with notes about what was read
  drawHead();
  drawComparison();
  document.body.dataset.ready = "true";
  if (state.shown === null) trying(showRow);
}

let first = -1; // number of the row that was chosen for the reader

// The first row of those read so far is shown, unless the reader or the address chose another.
function showFirst() {
  if (state.chosen === first && state.order.length > 0 && !isNarrow()) {
    first = state.order[0];
    choose(first);
  } else if (wanted === 0 && state.chosen >= 0 && state.chosen < table.rows) choose(state.chosen, { isKept: true });
}

// Another token in the same tab is another server, or the same one started again.
let openedToken = readFragment().token;
addEventListener("hashchange", () => {
  const { token } = readFragment();
  if (token === openedToken) return;
  openedToken = token;
  trying(() => reopen(token));
});

async function reopen(token) {
  for (const part of parts) if (await part.reopen?.(token)) return;
  location.reload();
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.body.dataset.place = "row";
  byId("row").focus();
});
globalThis.spanjuryView = { state, table, counts };
trying(start);
