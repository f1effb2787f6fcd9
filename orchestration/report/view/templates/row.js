// The chosen row: everything that is known of it, from the verdict down to the prompts.
let wanted = 0; // counts what was asked for, so that a late answer does not replace a later one

async function showRow() {
  wanted += 1;
  const mine = wanted;
  const number = state.chosen;
  if (number < 0 || number >= table.rows) return drawNothing();
  byId("row").setAttribute("aria-busy", "true");
  const other = state.pair === null ? null : (partners.get(number) ?? null);
  const found = await source.details(other === null ? [number] : [number, other]);
  if (mine !== wanted) return;
  byId("row").removeAttribute("aria-busy");
  if (found[0] === null) return fill("row", h("p.empty", {}, "This row is not in the data of the page."));
  state.shown = { number, ...found[0], other: found[1] ? { number: other, ...found[1] } : null };
  drawRow(state.shown);
  readAhead(number);
}

// The next rows are read before they are asked for.
function readAhead(number) {
  const place = placeOf(number);
  if (place < 0 || !source.isServed) return;
  const next = state.order.slice(place + 1, place + 4);
  if (next.length > 0) source.details(next).catch(() => null);
}

function drawNothing() {
  state.shown = null;
  panes = [];
  const isEmpty = table.isDone && table.rows === 0;
  fill("row", h("p.empty", {}, isEmpty ? "Nothing to show: the run has no row." : "Choose a row of the list."));
}

function redrawRow() {
  if (state.shown === null) return void trying(showRow);
  hideCard();
  const { scrollTop } = byId("row");
  const isFresh = state.pair !== null && state.shown.other === null;
  if (isFresh || (state.pair === null && state.shown.other !== null)) return void trying(showRow);
  drawRow(state.shown);
  byId("row").scrollTop = scrollTop;
}

function drawRow(shown) {
  panes = [];
  const sides = sidesOf(shown);
  const aspect = aspectOf(shown.number);
  const isBlind = state.blind !== null && sides.every(({ result }) => result === null);
  fill(
    "row",
    drawHeading(shown),
    fromParts("above", shown),
    isBlind ? [] : drawVerdicts(sides, aspect),
    drawTexts(shown, sides),
    fromParts("below", shown),
    shown.text && [drawReferences(shown.text), drawPeople(shown.text, shown.row)],
    sides.map((side, index) => drawSeats(side.result, shown, { side: index, name: side.name })),
    sides.map((side) => drawConsolidation(side.result, aspect, { name: side.name })),
    sides.map((side) => (side.result ? drawAsked(side.number, side.run, side.name) : null)),
    h("p.only-print", {}, `One of ${counted(table.rows, "row")} of ${state.head.title}; the page prints the chosen one.`),
  );
  if (document.body.dataset.shown !== String(shown.number)) say(spokenRow(shown, sides));
  document.body.dataset.shown = shown.number;
  emit("drawn", shown);
}

function spokenRow({ row, number }, sides) {
  const place = placeOf(number) < 0 ? "" : `Row ${placeOf(number) + 1} of ${state.order.length}: `;
  const scores = sides.filter(({ result }) => result).map(({ result }) => (isScoredSeat(result) ? `score ${inDigits(result.score)}` : outcomeWords(result.outcome)));
  return `${place}${[row.id, row.aspect, ...scores, counted(panes.flatMap(({ marks }) => marks).length, "span")].join(", ")}`;
}

function drawOneText(pane, shown, key) {
  const inputs = shown.text ? drawInputs(shown.text, shown.row, pane.marks) : null;
  const own = h("div.own", {}, key, drawText(pane), drawFindings(pane));
  return h(`div.reading${inputs ? ".has-inputs" : ""}`, {}, own, inputs);
}

function drawText(pane) {
  if (pane.row.text === null) return h("p.note", {}, "The text of this row is not in the page; its spans are listed with their quotes.");
  return pane.element;
}

// Paper has no folds; what is only fetched when it is opened stays out.
addEventListener("beforeprint", () => {
  for (const each of byId("row").querySelectorAll("details:not([open])")) {
    each.open = each.querySelector(".asked") === null;
    if (each.open) each.dataset.printed = "true";
  }
});
addEventListener("afterprint", () => {
  for (const each of byId("row").querySelectorAll("details[data-printed]")) {
    each.open = false;
    delete each.dataset.printed;
  }
});

on("row", () => {
  byId("row").scrollTop = 0;
  trying(showRow);
});
