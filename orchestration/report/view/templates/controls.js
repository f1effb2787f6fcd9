// The filters, histograms, search, sorting and means beside the list.
const MOST_VALUES = 12;
const opened = new Set(); // keys of facets whose every value is listed

function drawFilters() {
  const isFiltered = state.filters.size > 0 || state.query !== "";
  const active = document.activeElement?.dataset?.facet;
  const runs = isCompared() ? [runChoice()] : [];
  const facets = FACETS.filter(isWanted).map((facet) => (facet.isBars ? drawBars(facet) : drawValues(facet)));
  fill("filters", filtersHead(isFiltered), runs, facets, fromParts("filters"));
  if (active) document.querySelector(`[data-facet="${CSS.escape(active)}"]`)?.focus({ preventScroll: true });
}

function filtersHead(isFiltered) {
  const clearAll = button("Clear all", clearFilters, { kind: ".quiet", disabled: !isFiltered, "data-facet": "clear" });
  return h("div.filters-head", {}, h("h2", {}, "Filters"), clearAll, button("Done", hideFilters, { kind: ".quiet.only-narrow" }));
}

function clearFilters() {
  state.filters.clear();
  state.query = "";
  state.matches = null;
  byId("search").value = "";
  changeFilters();
}

function hideFilters() {
  document.body.classList.remove("with-filters");
}

function runChoice() {
  const options = state.head.runs.map(({ name }, index) => h("option", { value: index, selected: index === state.run }, name));
  const onchange = (event) => {
    state.run = Number(event.target.value);
    changeFilters();
  };
  return h("label.field", {}, "Filter by the results of", h("select", { onchange, "data-facet": "run" }, options));
}

function isChosen(facet, index) {
  return state.filters.get(facet.key)?.has(keyOf(facet, index)) ?? false;
}

// A histogram; each bar is a button that keeps its rows.
function drawBars(facet) {
  const counted = counts.facets.get(facet.key) ?? [];
  if (!counted.some((count) => count > 0) && !state.filters.has(facet.key)) return null;
  const most = Math.max(1, ...counted);
  const bars = [...counted].map((count, index) => drawBar(facet, { index, count, most }));
  const ends = h("div.ends", { "aria-hidden": "true" }, endsOf(facet).map((text) => h("span", {}, text)));
  return h("fieldset.facet", {}, h("legend", {}, facet.label), h(`div.bars.bars-${facet.key}`, {}, bars), ends);
}

function endsOf(facet) {
  const { low, high } = scoreRange();
  if (facet.key === "severity") return ["none", "1", "2", "3", "4", "5"];
  if (facet.key === "difference") return ["second lower", "higher"];
  if (facet.key === "disagreement") return ["none", plainNumber(high - low)];
  return [plainNumber(low), plainNumber(high)];
}

function drawBar(facet, { index, count, most }) {
  const label = `${facet.label} ${facet.name(index)}: ${counted(count, "row")}`;
  const bar = button("", () => toggleValue(facet, index), {
    kind: ".bar",
    title: `${facet.name(index)}: ${counted(count, "row")}`,
    "aria-label": label,
    "aria-pressed": String(isChosen(facet, index)),
    "data-facet": `${facet.key} ${index}`,
  });
  const height = count === 0 ? "0" : `max(3px, ${((100 * count) / most).toFixed(1)}%)`;
  bar.append(styled(h("span.fill", { "data-step": index }), { height }));
  return bar;
}

function drawValues(facet) {
  const counted = counts.facets.get(facet.key) ?? [];
  const values = [...counted.keys()].filter((index) => counted[index] > 0 || isChosen(facet, index));
  if (values.length === 0 || (values.length === 1 && isAlone(facet, values[0]))) return null;
  values.sort((a, b) => isChosen(facet, b) - isChosen(facet, a) || counted[b] - counted[a] || a - b);
  const isOpen = opened.has(facet.key) || values.length <= MOST_VALUES;
  const shown = isOpen ? values : values.slice(0, MOST_VALUES - 2);
  const rest = values.length - shown.length;
  const more = rest > 0 ? button(`${rest} more`, () => opened.add(facet.key) && drawFilters(), { kind: ".quiet", "data-facet": `${facet.key} more` }) : null;
  return h("fieldset.facet", {}, h("legend", {}, facetLabel(facet)), shown.map((index) => drawValue(facet, index, counted[index])), more);
}

function facetLabel({ label }) {
  return typeof label === "function" ? label() : label;
}

// A value that all rows have filters nothing.
function isAlone(facet, index) {
  return !isChosen(facet, index) && (state.filters.size === 0 || facet.size() === 1) && counts.facets.get(facet.key)[index] === counts.passed;
}

function drawValue(facet, index, count) {
  const box = h("input", {
    type: "checkbox",
    checked: isChosen(facet, index),
    onchange: () => toggleValue(facet, index),
    "data-facet": `${facet.key} ${index}`,
  });
  return h("label.value", {}, box, h("bdi.name", { title: facet.name(index) }, facet.name(index)), h("span.count", {}, inThousands(count)));
}

// Search and sorting are drawn once, so that what is being typed stays.
function drawControls() {
  const search = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search ids, texts, spans",
    "aria-label": "Search in ids, texts, quotes and explanations",
    value: state.query,
    oninput: (event) => {
      state.query = event.target.value;
      searchSoon();
    },
  });
  const filters = button("Filters", toggleFilters, { kind: ".filters-button", id: "filters-button" });
  fill("controls", h("div.line", {}, search, filters), h("div.line", {}, sortChoice(), turnButton()));
}

function toggleFilters() {
  document.body.classList.toggle(isNarrow() ? "with-filters" : "without-filters");
}

function sortChoice() {
  const onchange = (event) => {
    state.sort = event.target.value;
    changeFilters();
  };
  const keys = Object.keys(DIRECTIONS).filter((key) => (state.blind === null ? key !== "difference" || isBeside() : BLIND_ORDERS.includes(key)));
  const options = keys.map((key) => h("option", { value: key, selected: key === state.sort }, DIRECTIONS[key][0]));
  return h("select", { id: "sort", "aria-label": "Sort rows by", onchange }, options);
}

function turnButton() {
  const turn = (event) => {
    state.isReversed = !state.isReversed;
    event.currentTarget.setAttribute("aria-pressed", String(state.isReversed));
    changeFilters();
  };
  return button("⇅", turn, { kind: ".turn", title: "Reverse the order", "aria-label": "Reverse the order", "aria-pressed": String(state.isReversed) });
}

// A mean never stands without its coverage.
function drawMeans() {
  const rows = counts.means.map((pair, index) => [index, pair]).filter(([, [first, second]]) => first.rows + second.rows > 0);
  const sides = isBeside() ? ["first", "second"] : [""];
  const lines = rows.map(([index, pair]) => drawMean(index, sides.length > 1 ? pair : pair.slice(0, 1)));
  fill("means", state.blind === null ? lines : []);
}

function drawMean(index, pair) {
  const values = pair.map((mean, side) => {
    const part = `${inThousands(mean.scored)} of ${inThousands(mean.rows)}`;
    const coverage = pair.length > 1 ? `${part} scored` : `scored ${part}`;
    const isPart = mean.scored < mean.rows;
    return h(
      `span.mean${pair.length > 1 ? `.side-${side}` : ""}`,
      {},
      h("b", {}, mean.scored > 0 ? inDigits(mean.sum / mean.scored) : "no score"),
      " ",
      h(`span.coverage${isPart ? ".is-part" : ""}`, {}, coverage),
    );
  });
  return h(`div.mean-line${pair.length > 1 ? ".is-pair" : ""}`, {}, h("bdi.name", { title: aspectOfIndex(index) }, aspectLabel(index)), values);
}

function aspectOfIndex(index) {
  return table.names.aspects[index]?.definition ?? "";
}

function drawCount() {
  const most = table.isDone ? table.rows : (state.head.rows ?? table.rows);
  const reading = table.isDone ? "" : ` · reading, ${inThousands(table.rows)} so far`;
  const all = state.pair === null ? most : partners.size;
  const noun = state.pair === null ? "row" : "pair";
  const count = counts.passed === all ? counted(all, noun) : `${inThousands(counts.passed)} of ${counted(all, noun)}`;
  byId("count").textContent = `${count}${reading}${noRowReason()}`;
}

function noRowReason() {
  if (!table.isDone) return "";
  if (table.rows === 0) return ": nothing was judged in this run.";
  if (state.pair !== null && partners.size === 0 && state.pair !== CLEAN_PAIR) return ": the two systems have no inputs in common.";
  const isUnscored = counts.passed > 0 && counts.means.every(([first]) => first.scored === 0);
  return isUnscored && state.blind === null ? " · none has a score; each row gives its reason" : "";
}

function drawSide() {
  drawFilters();
  drawMeans();
  drawCount();
  const chosen = [...state.filters.values()].length + (state.query === "" ? 0 : 1);
  byId("filters-button").textContent = chosen > 0 ? `Filters (${chosen})` : "Filters";
}

on("order", drawSide);
