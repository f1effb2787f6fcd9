// The list of rows: only those in sight are elements, so that 100,000 scroll as 10 do.
const ROW_HEIGHT = 54;
const ROWS_BEYOND = 6;
let isListDue = false;

function drawListSoon() {
  if (isListDue) return;
  isListDue = true;
  requestAnimationFrame(() => {
    isListDue = false;
    drawList();
  });
}

function drawList() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
  const last = Math.min(state.order.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + ROWS_BEYOND);
  const rows = [];
  for (let place = first; place < last; place += 1) rows.push(drawOption(place));
  const all = styled(h("div.all", { role: "presentation" }, rows), { height: `${state.order.length * ROW_HEIGHT}px` });
  list.replaceChildren(state.order.length > 0 ? all : drawNoRow());
  const chosen = byId(`option-${state.chosen}`);
  if (chosen) list.setAttribute("aria-activedescendant", chosen.id);
  else list.removeAttribute("aria-activedescendant");
}

function drawNoRow() {
  if (!table.isDone && table.rows === 0) return h("p.empty", {}, "Reading the rows …");
  if (table.rows === 0) return h("p.empty", {}, "The run has no row.");
  if (state.filters.size === 0 && state.matches === null) return h("p.empty", {}, "No row.");
  return h("div.empty", {}, h("p", {}, "No row passes the filters."), button("Clear all filters", clearFilters));
}

function drawOption(place) {
  const number = state.order[place];
  const option = h(
    "div.option",
    {
      id: `option-${number}`,
      role: "option",
      "aria-selected": String(number === state.chosen),
      "aria-setsize": state.order.length,
      "aria-posinset": place + 1,
      onclick: () => openRow(number),
    },
    h("span.first-line", {}, h("bdi.id", { title: table.id[number] }, originalId(number)), isBeside() ? drawStep(number) : drawScore(number)),
    h("span.second-line", {}, h("span.origin", {}, originOf(number)), fromParts("badge", number), isBeside() ? drawBoth(number) : drawSigns(number)),
  );
  return styled(option, { transform: `translateY(${place * ROW_HEIGHT}px)` });
}

// What all rows share is not said in each.
function originOf(number) {
  const system = state.pair !== null || table.names.systems.length < 2 ? null : systemOf(number);
  const aspect = table.names.aspects.length < 2 ? null : aspectLabel(table.aspect[number]);
  const origin = [conditionOf(number), system, aspect].filter((part) => part);
  return origin.flatMap((part, index) => (index > 0 ? [" · ", bdi(part)] : [bdi(part)]));
}

function drawScore(number) {
  return state.blind === null ? drawOneScore(0, number) : null;
}

function drawStep(number) {
  const difference = state.blind === null ? differenceOf(number) : null;
  return difference === null ? null : h(`b.step${toneOf(difference)}`, {}, signed(difference));
}

function drawBoth(number) {
  const pair = state.blind === null ? pairOf(number) : null;
  if (pair === null) return null;
  const [first, second] = pair.map((each) => drawOneScore(each.run, each.number));
  return h("span.scores", {}, first, h("span.arrow", { "aria-label": "then" }, "→"), second);
}

function toneOf(difference) {
  if (Math.abs(difference) < 0.005) return "";
  return difference > 0 ? ".is-up" : ".is-down";
}

function drawOneScore(run, number) {
  const [score, outcome] = [scoreOf(run, number), outcomeOf(run, number)];
  if (score !== null) return h("b.score", {}, inDigits(score));
  return h("span.failed", {}, outcome === null ? (state.head.runs.length > 1 ? "not in this run" : "") : outcomeWords(outcome));
}

function drawSigns(number) {
  if (state.blind !== null) return null;
  const run = table.runs[state.run];
  const spans = run?.spans[number] ?? 0;
  const severity = Math.min(HIGHEST_SEVERITY, Math.ceil(run?.severity[number] ?? 0));
  const decision = decisionOf(state.run, number);
  return h(
    "span.signs",
    {},
    spans > 0 && h("span.spans", { "data-severity": severity, title: `${counted(spans, "span")}, worst severity ${severity}` }, counted(spans, "span")),
    decision && decision !== "ok" && h("span.decision", { "data-decision": decision }, DECISION_WORDS[decision] ?? decision),
  );
}

function placeOf(number) {
  return state.order.indexOf(number);
}

function scrollToChosen() {
  const [list, place] = [byId("list"), placeOf(state.chosen)];
  if (place < 0) return;
  const top = place * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}

// From a row that the filters took away, the next is the first that passes.
function stepRow(by) {
  if (state.order.length === 0) return;
  const place = placeOf(state.chosen);
  const next = place < 0 ? 0 : Math.min(state.order.length - 1, Math.max(0, place + by));
  choose(state.order[next]);
}

// On a narrow page the row takes the place of the list, and the browser's own "back" leads to it.
function openRow(number) {
  if (number === undefined) return;
  if (isNarrow() && document.body.dataset.place !== "row") history.pushState({ isRow: true }, "", location.hash);
  document.body.dataset.place = "row";
  choose(number);
}

function closeRow() {
  if (isNarrow() && history.state?.isRow) history.back();
  else showList();
}

function showList() {
  document.body.dataset.place = "list";
  drawListSoon();
  byId("list").focus({ preventScroll: true });
}

addEventListener("popstate", showList);

const LIST_STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function walkList(event) {
  if (event.key === "Enter") openRow(state.chosen < 0 ? state.order[0] : state.chosen);
  if (!(event.key in LIST_STEPS) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  stepRow(LIST_STEPS[event.key]);
}

function startList() {
  byId("list").addEventListener("scroll", drawListSoon, { passive: true });
  byId("list").addEventListener("keydown", walkList);
  new ResizeObserver(drawListSoon).observe(byId("list"));
}

on("order", drawListSoon);
on("row", () => {
  scrollToChosen();
  drawListSoon();
});
on("filters", () => {
  byId("list").scrollTop = 0;
});
