// The spans as a list below their text: what has no place in it stands there, too.
const MANY_FINDINGS = 60; // beyond, only those in sight are laid out

function drawFindings(pane) {
  const placed = pane.marks.filter(({ isPlaced }) => isPlaced);
  const unplaced = pane.marks.filter(({ isPlaced }) => !isPlaced);
  const said = unplaced.length === 0 ? "" : `, ${unplaced.length} of them not located in the text`;
  const title = pane.marks.length === 0 ? noSpanWords(pane) : `${counted(pane.marks.length, "span")}${said}`;
  const list = [...placed, ...unplaced].map((mark) => drawFinding(mark, pane));
  return h("section.findings", { "aria-label": "Spans" }, h("h3", {}, title), list.length > 0 && h(`ol.finding-list${list.length > MANY_FINDINGS ? ".is-long" : ""}`, {}, list));
}

function noSpanWords(pane) {
  if (pane.isBlind) return "The panel's spans are hidden until you finish this row";
  if (state.onlySeat !== null) return `${state.onlySeat.name} marked no span`;
  return pane.isScored ? "No seat marked a span" : "No spans: the row has no score";
}

function drawFinding(mark, pane) {
  const item = h(
    `li.finding${isHidden(mark) ? ".is-hidden" : ""}`,
    {
      tabindex: "-1",
      "data-tone": mark.tone,
      onclick: (event) => event.target.closest("button") === null && getSelection().isCollapsed && visitMark(pane, mark),
    },
    h("div.finding-head", {}, h("span.number", { "data-severity": mark.severity, "data-tone": mark.tone }, mark.number), quoteOf(mark), severityBadge(mark), mark.span.category && h("bdi.category", {}, mark.span.category)),
    h("div.finding-facts", {}, spanFacts(mark, pane), fromParts("onFinding", mark, pane.row)),
  );
  mark.item = item;
  return item;
}

function quoteOf(mark) {
  if (!mark.span.text) return h("span.quote.is-missing", {}, "Something is missing from the text");
  return h("bdi.quote", {}, clipped(mark.span.text, 240));
}

// Who marks, with line and number key; each can be hidden.
function drawLegend(tracks, marks) {
  const count = (key) => marks.filter((mark) => mark.keys.includes(key)).length;
  const chips = tracks.map((track, index) => {
    const isOn = !state.hiddenSeats.has(track.key);
    const attributes = {
      kind: ".chip",
      "aria-pressed": String(isOn),
      title: `${isOn ? "Hide" : "Show"} (${index + 1})`,
      "data-key": track.key,
    };
    return button([lineSample(track.look), bdi(track.name), h("span.count", {}, count(track.key))], () => toggleSeat(track.key), attributes);
  });
  return h("div.legend", { role: "group", "aria-label": "Who marked the spans" }, chips);
}

function drawSeverityKey() {
  const steps = [1, 2, 3, 4, 5].map((step) => h("span.swatch", { "data-severity": step }, step));
  return h("div.severity-key", { "aria-label": "Fill: severity from 1 to 5" }, h("span", {}, "severity"), steps);
}

function toggleSeat(key) {
  if (!state.hiddenSeats.delete(key)) state.hiddenSeats.add(key);
  emit("seats");
}

// Redrawn in place, so that the keyboard stays where it is.
function markSeats() {
  for (const chip of document.querySelectorAll(".legend .chip[data-key]")) {
    chip.setAttribute("aria-pressed", String(!state.hiddenSeats.has(chip.dataset.key)));
  }
  for (const pane of panes) for (const mark of pane.marks) mark.item?.classList.toggle("is-hidden", isHidden(mark));
}

on("seats", markSeats);
