// The comparison of two runs or systems over all their texts, with intervals.
async function drawComparison() {
  clear(byId("comparison"));
  if (!isBeside() || state.pair === CLEAN_PAIR || state.blind !== null) return;
  const pair = state.pair;
  const sides = comparedSides();
  const found = await source.comparison(...sides).catch((error) => ({ rows: [], note: error.message }));
  if (pair !== state.pair) return;
  if (found === null) return fill("comparison", h("p.note", {}, "This file has no confidence intervals for these two systems. The means beside the list cover the filtered rows only."));
  const fault = found.rows.every(({ texts }) => texts === 0) ? h("p.note", {}, found.note || "No text was scored on both sides.") : null;
  fill("comparison", fault ?? h("details", { open: !isNarrow() }, h("summary", {}, comparisonTitle(sides)), h("div.compared", {}, comparisonTable(found, sides), found.note && h("p.note", {}, found.note))));
}

function comparedSides() {
  if (state.pair !== null) return state.pair.map((name) => ({ key: `system:${name}`, name }));
  return state.head.runs.map(({ name }, index) => ({ key: `run:${index}`, name }));
}

function comparisonTitle(sides) {
  return [bdi(sides[1].name), " minus ", bdi(sides[0].name), ", over all texts"];
}

function comparisonTable({ rows }, sides) {
  const reach = Math.max(0.01, ...rows.flatMap(({ low, high }) => [Math.abs(low ?? 0), Math.abs(high ?? 0)]));
  const head = ["Aspect", "Texts", bdi(sides[0].name), bdi(sides[1].name), "Difference", "95% interval", ""];
  const lines = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, bdi(row.aspect)),
      [inThousands(row.texts), inDigits(row.first), inDigits(row.second)].map((cell) => h("td", {}, cell)),
      h(`td${toneOf(isSure(row) ? row.difference : 0)}`, {}, h("b", {}, row.difference === null ? "–" : signed(row.difference))),
      h("td", {}, row.low === null ? "–" : `${signed(row.low)} to ${signed(row.high)}`),
      h("td.whisker-cell", {}, drawWhisker(row, reach)),
    ),
  );
  const titles = head.map((title) => h("th", { scope: "col" }, title));
  return h("div.wide-table", { tabindex: "0", role: "group", "aria-label": "Comparison" }, h("table", {}, h("thead", {}, h("tr", {}, titles)), h("tbody", {}, lines)));
}

function isSure({ low, high }) {
  return low !== null && (low > 0 || high < 0);
}

function drawWhisker({ difference, low, high }, reach) {
  if (low === null || difference === null) return null;
  const place = (value) => `${(50 + (48 * value) / reach).toFixed(2)}%`;
  const line = styled(h("span.whisker", {}), { left: place(low), width: `${((48 * (high - low)) / reach).toFixed(2)}%` });
  return h("div.whiskers", { "aria-hidden": "true" }, h("span.zero", {}), line, styled(h("span.dot", {}), { left: place(difference) }));
}
