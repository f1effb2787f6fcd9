// A text with its spans: fill by severity, a line for each seat that found them.
const LOOKS = 8;
const LINE_STEP = 4; // pixels from one seat's line to the next
let panes = []; // the texts of the row that is shown

// Patterns along a line, in pixels; with the colour they tell seats apart, also in print without colour.
const LINE_PATTERNS = {
  0: "COLOUR 0 100%",
  1: "COLOUR 0 7px, transparent 7px 10px",
  2: "COLOUR 0 2px, transparent 2px 5px",
  3: "COLOUR 0 8px, transparent 8px 10px, COLOUR 10px 12px, transparent 12px 14px",
};

function patternOf(look) {
  const pattern = LINE_PATTERNS[look === "gold" ? 0 : Math.floor(look) % 4];
  return `repeating-linear-gradient(90deg, ${pattern.replaceAll("COLOUR", colourOf(look))})`;
}

function colourOf(look) {
  return look === "gold" ? "var(--gold)" : `var(--seat-${look % LOOKS})`;
}

// `{ text, marks, tracks, side, row, label }` becomes a pane with its element.
function makePane(given) {
  const pane = { ...given, shown: visible(given.text), layout: layoutOf(given.text), element: directed(h("div.text", { role: "group", "aria-label": given.label }), given.text) };
  panes.push(pane);
  drawPane(pane);
  listenTo(pane);
  return pane;
}

function drawPane(pane) {
  const shownMarks = pane.marks.filter((mark) => mark.isPlaced && !isHidden(mark));
  const lanes = lanesOf(pane.tracks, shownMarks);
  for (const mark of pane.marks) mark.element = null;
  const cut = cutText(pane.text, shownMarks);
  const draw = (piece) => drawPiece(piece, pane, lanes);
  const drawWhole = () => (isFormatted(pane) ? drawLayout(pane.layout.nodes, cut, draw) : cut.map(draw));
  const pieces = isByTurn(pane) ? drawTurns(pane, cut, draw) : drawWhole();
  pane.element.classList.toggle("is-formatted", isFormatted(pane));
  pane.element.replaceChildren(...(pieces.length > 0 ? pieces : [h("i.empty", {}, "(an empty text)")]));
  styled(pane.element, { "--lanes": `${lanes.size * LINE_STEP}px` });
  const first = shownMarks.find((mark) => mark.element);
  if (first) first.element.tabIndex = 0;
}

function isFormatted(pane) {
  return pane.layout.isMarkdown && !state.isRaw && !isByTurn(pane);
}

// Only those who marked this text take a line, in the order of the legend.
function lanesOf(tracks, marks) {
  const used = new Set(marks.flatMap((mark) => mark.keys));
  return new Map(tracks.filter(({ key }) => used.has(key) && !state.hiddenSeats.has(key)).map((track, lane) => [track.key, { ...track, lane }]));
}

function drawPiece(piece, pane, lanes) {
  const text = pane.shown.slice(piece.start, piece.end);
  if (piece.marks.length === 0) return document.createTextNode(text);
  const made = h("span.piece");
  made.textContent = text;
  made.dataset.marks = piece.marks.map(({ number }) => number).join(" ");
  made.dataset.tone = toneOfPiece(piece.marks);
  if (piece.marks.length > 1) made.dataset.depth = Math.min(3, piece.marks.length);
  for (const mark of piece.marks) if (mark.element === null) begin(mark, made);
  made.tabIndex = -1;
  return paintLines(made, piece.marks, lanes);
}

function begin(mark, element) {
  mark.element = element;
  element.classList.add("begins");
  element.setAttribute("role", "button");
  element.dataset.numbers = [element.dataset.numbers, mark.number].filter((part) => part).join(" ");
}

function toneOfPiece(marks) {
  const tones = marks.map(({ tone }) => tone).filter((tone) => tone !== null);
  const judged = marks.filter(({ tone }) => tone !== "gold");
  if (tones.includes("both") || (tones.includes("first") && tones.includes("second"))) return "both";
  if (tones.length > 0 && tones[0] !== "gold") return tones[0];
  return judged.length === 0 ? "gold" : `severity-${Math.max(...judged.map(({ severity }) => severity))}`;
}

function paintLines(element, marks, lanes) {
  const keys = new Set(marks.flatMap((mark) => mark.keys));
  const used = [...lanes.values()].filter(({ key }) => keys.has(key));
  styled(element, {
    "--lines": used.map(({ look }) => patternOf(look)).join(", ") || "none",
    "--line-places": used.map(({ lane }) => `0 calc(100% - ${(lanes.size - 1 - lane) * LINE_STEP}px)`).join(", ") || "0 0",
    "--line-sizes": used.map(() => "100% 3px").join(", ") || "auto",
  });
  return element;
}

function marksAt(pane, element) {
  const piece = element?.closest?.(".piece");
  if (!piece || !pane.element.contains(piece)) return [];
  const numbers = new Set(piece.dataset.marks.split(" ").map(Number));
  return pane.marks.filter(({ number }) => numbers.has(number));
}

function listenTo(pane) {
  const show = (event, isPinned) => {
    const marks = marksAt(pane, event.target);
    if (marks.length > 0) showMark(pane, innermost(marks), { isPinned, at: event.target.closest(".piece") });
    return marks.length > 0;
  };
  pane.element.addEventListener("mouseover", (event) => show(event, false) || hideUnpinned());
  pane.element.addEventListener("mouseleave", hideUnpinned);
  pane.element.addEventListener("click", (event) => {
    const isMarked = getSelection().isCollapsed && show(event, true);
    if (isMarked && event.target.closest("a")) event.preventDefault(); // the card is what was asked for
  });
  pane.element.addEventListener("focusin", (event) => {
    const isActive = active !== null && active.mark.element === event.target;
    if (!isActive && event.target.matches(":focus-visible")) show(event, true);
  });
}

function lightUp(pane, mark) {
  for (const piece of pane.element.querySelectorAll(".piece")) {
    piece.classList.toggle("is-active", mark !== null && piece.dataset.marks.split(" ").includes(String(mark.number)));
  }
  for (const each of pane.marks) each.item?.classList.toggle("is-active", each === mark);
}

on("seats", () => panes.forEach(drawPane));
