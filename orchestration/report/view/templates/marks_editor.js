// The editor of a span: its borders, by selecting text or word by word, and what is said of it.
let words = { text: null, edges: [] };

// Where words begin and end, in code points; scripts without blanks are cut as the browser knows them.
function wordsOf(text) {
  if (words.text === text) return words.edges;
  const cut = new Intl.Segmenter(undefined, { granularity: "word" });
  const edges = [];
  let point = 0;
  for (const { segment, isWordLike } of cut.segment(text)) {
    const length = [...segment].length;
    if (isWordLike || /\S/u.test(segment)) edges.push({ start: point, end: point + length });
    point += length;
  }
  words = { text, edges };
  return edges;
}

function pointsOf(text, start, end) {
  return [...text].slice(start, end).join("");
}

function openEditor(index) {
  marking.editing = { number: state.shown.number, index };
  hideCard();
  drawPanel();
  const editor = byId("span-editor");
  editor?.scrollIntoView({ block: "nearest" });
  editor?.querySelector("input, textarea, button")?.focus({ preventScroll: true });
}

// Back to the span in the text, where a person was reading.
function closeEditor() {
  const { index } = marking.editing;
  const { origin } = markShown().spans[index];
  marking.editing = null;
  refreshMarks();
  const mark = panes[0].marks.find((each) => ownIndex(each) === index || isFrom(origin, each));
  (mark?.element ?? byId("marking")).focus();
}

function closeOnEscape(event) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  closeEditor();
}

// From what is selected; without a selection from the first word, to be moved by the buttons.
function addSpan({ isOmission = false } = {}) {
  if (!isMarking()) return say("Press Mark first to mark errors yourself");
  if (markShown() === null || state.pair !== null) return say("This row cannot be marked now");
  const pane = panes[0];
  const selected = selectedIn(pane.element, pane.text);
  const first = wordsOf(pane.text)[0] ?? null;
  const place = isOmission || first === null ? {} : (selected ?? { ...first, text: pointsOf(pane.text, first.start, first.end) });
  getSelection().removeAllRanges();
  changeShown((mine) => mine.spans.push({ ...NEW_SPAN, ...place }));
  openEditor(markShown().spans.length - 1);
  say(selected ? "Span added" : isOmission ? "Omission added" : "A span on the first word added: move its borders");
}

// A judge's span that is changed is no longer the judge's.
function changeSpan(index, change, options = {}) {
  const edit = (mine) => {
    const span = mine.spans[index];
    change(span);
    if (span.origin) span.verdict = "edited";
  };
  if (options.isTyping) changeMark(state.shown.number, edit, options);
  else changeShown(edit);
}

function moveBorder(index, side, by) {
  const edges = wordsOf(panes[0].text);
  const span = markShown().spans[index];
  if (edges.length === 0) return;
  const at = span[side] === null ? -1 : nearestWord(edges, span[side], side);
  const next = edges[Math.max(0, Math.min(edges.length - 1, at + by))][side];
  changeSpan(index, (changed) => {
    changed[side] = next;
    if (changed.start >= changed.end) changed[side === "start" ? "end" : "start"] = edges.find((word) => word[side] === next)[side === "start" ? "end" : "start"];
    changed.text = pointsOf(panes[0].text, changed.start, changed.end);
  });
}

function nearestWord(edges, point, side) {
  let nearest = 0;
  edges.forEach((word, at) => {
    if (Math.abs(word[side] - point) < Math.abs(edges[nearest][side] - point)) nearest = at;
  });
  return nearest;
}

function takeSelection(index) {
  const selected = selectedIn(panes[0].element, panes[0].text);
  if (selected === null) return say("Select a part of the text first");
  getSelection().removeAllRanges();
  changeSpan(index, (span) => Object.assign(span, selected));
}

function drawEditor(index) {
  const span = markShown().spans[index];
  const isPlaced = span.start !== null;
  const category = h("input", {
    type: "text",
    list: "categories",
    value: span.category,
    maxlength: 200,
    "data-mark": "editor category",
    oninput: (event) => changeSpan(index, (changed) => (changed.category = event.target.value), { isTyping: true }),
    onchange: refreshLater,
  });
  const explanation = h("textarea", {
    rows: 2,
    value: span.explanation,
    maxlength: 5000,
    "data-mark": "editor explanation",
    oninput: (event) => changeSpan(index, (changed) => (changed.explanation = event.target.value), { isTyping: true }),
    onchange: refreshLater,
  });
  return h(
    "div.span-editor",
    { id: "span-editor", role: "group", "aria-label": "The span being edited", onkeydown: closeOnEscape },
    h("p.editor-quote", {}, isPlaced ? h("bdi.quote", {}, clipped(span.text, 160)) : h("i", {}, span.text || "Something is missing from the text")),
    isPlaced && drawBorders(index),
    severityChoice(index, span),
    h("div.editor-fields", {}, h("label.field", {}, "Category", category), h("label.field.wide", {}, "Explanation", explanation)),
    h("datalist", { id: "categories" }, table.names.categories.map((name) => h("option", { value: name }))),
    h("div.editor-foot", {}, button("Close", closeEditor), button("Remove the span", () => removeSpan(index), { kind: ".quiet" })),
  );
}

function drawBorders(index) {
  const step = (side, by, sign, words) => button(sign, () => moveBorder(index, side, by), { kind: ".step-button", "aria-label": words, title: words, "data-mark": `editor ${side} ${by}` });
  return h(
    "div.borders",
    {},
    h("span.border", {}, "start ", step("start", -1, "−", "Begin a word earlier"), step("start", 1, "+", "Begin a word later")),
    h("span.border", {}, "end ", step("end", -1, "−", "End a word earlier"), step("end", 1, "+", "End a word later")),
    button("Take the selected text", () => takeSelection(index), { "data-mark": "editor selection", onmousedown: (event) => event.preventDefault() }),
  );
}

function severityChoice(index, span) {
  const choices = [1, 2, 3, 4, 5].map((severity) => {
    const input = h("input", {
      type: "radio",
      name: "severity",
      checked: span.severity === severity,
      "data-mark": `editor severity ${severity}`,
      onchange: () => changeSpan(index, (changed) => (changed.severity = severity)),
    });
    return h("label.choice", { "data-severity": severity }, input, severity);
  });
  return h("fieldset.choices.severities", {}, h("legend", {}, "Severity ", h("span.note", {}, "1 hardly matters, 5 ruins the text")), choices);
}
