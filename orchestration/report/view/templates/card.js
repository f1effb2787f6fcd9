// The card of a span: it follows the pointer or the keyboard, and stays where it was clicked.
let active = null; // { pane, mark, isPinned, evidence }: the span that the card shows
let hiding = 0;

function showMark(pane, mark, { isPinned, at = null }) {
  clearTimeout(hiding);
  if (active?.isPinned && !isPinned) return;
  const isSame = active?.mark === mark && active.isPinned === isPinned;
  if (active !== null && active.pane !== pane) lightUp(active.pane, null);
  active = { pane, mark, isPinned, evidence: isSame ? active.evidence : -1 };
  lightUp(pane, mark);
  lightEvidence(pane, mark);
  if (mark.isPlaced && (at ?? mark.element)) drawCard(pane, mark, at ?? mark.element);
  else byId("card").hidden = true;
  if (isPinned && !isSame) say(spoken(mark, pane));
  emit("span", { mark, row: pane.row });
}

function hideUnpinned() {
  if (active === null || active.isPinned) return;
  clearTimeout(hiding);
  hiding = setTimeout(() => active !== null && !active.isPinned && hideCard(), 180);
}

function hideCard() {
  clearTimeout(hiding);
  byId("card").hidden = true;
  if (active === null) return;
  lightUp(active.pane, null);
  lightEvidence(active.pane, null);
  active = null;
  emit("span", null);
}

function drawCard(pane, mark, at) {
  const card = byId("card");
  const others = marksAt(pane, at).filter((each) => each !== mark && !isHidden(each));
  card.replaceChildren(
    h("div.card-head", {}, cardTitle(mark, pane), active.isPinned && button("×", dismissCard, { kind: ".quiet.close", "aria-label": "Close" })),
    ...spanFacts(mark, pane),
    ...(others.length > 0 ? [otherSpans(pane, others, at)] : []),
    ...fromParts("onCard", mark, pane.row),
  );
  card.classList.toggle("is-pinned", active.isPinned);
  card.hidden = false;
  if (active.isPinned) makeRoom(pane.element, card);
  placeCard(card, at);
}

function dismissCard() {
  const back = active?.mark.element;
  hideCard();
  back?.focus({ preventScroll: true });
}

// The title leads back to the span from wherever its evidence has led.
function cardTitle(mark, pane) {
  const back = button(`Span ${mark.number}`, () => visitMark(pane, mark), { kind: ".quiet.card-name", title: "Go to the span" });
  return h("p.card-title", {}, back, severityBadge(mark), mark.span.category && h("bdi.category", {}, mark.span.category));
}

function severityBadge(mark) {
  if (mark.span.severity === null || mark.span.severity === undefined) return null;
  const twin = mark.twin?.severity ?? mark.span.severity;
  const after = twin === mark.span.severity ? "" : `, then ${plainNumber(twin)}`;
  return h("span.severity", { "data-severity": mark.severity }, `severity ${plainNumber(mark.span.severity)}${after}`);
}

// The facts of a span, for the card and for the list below the text.
function spanFacts(mark, pane) {
  const { span } = mark;
  const facts = [
    positionWords(span),
    span.probability === null || span.probability === undefined ? null : `an error with probability ${inDigits(span.probability)}`,
    span.located ? LOCATED_WORDS[span.located] ?? span.located : null,
  ].filter((fact) => fact !== null);
  return [
    ...explanations(mark),
    evidenceOf(mark, pane),
    h("p.facts", {}, foundBy(mark, pane), facts.length > 0 && h("span", {}, facts.join(" · "))),
  ].filter((part) => part !== null);
}

// Of two runs that mark the same place, each explains it in its own words.
function explanations({ span, twin }) {
  const said = [span.explanation, twin?.explanation === span.explanation ? "" : twin?.explanation];
  return said.filter((text) => text).map((text) => h("p.explanation", { dir: "auto" }, text));
}

function foundBy(mark, pane) {
  const names = mark.keys.map((key) => pane.tracks.find((track) => track.key === key) ?? { name: key, look: 0 });
  return h("span.found-by", {}, toneWords(mark), names.map((track) => h("span.seat", {}, lineSample(track.look), bdi(track.name))));
}

const TONE_WORDS = { both: "overlaps the other run's; here from", first: "only in", second: "only in", gold: "marked by", own: "marked by" };

function toneWords(mark) {
  if (mark.twin) return "in both ";
  if (mark.tone === "gold" && isExam()) return "";
  if (mark.tone) return `${TONE_WORDS[mark.tone]} `;
  return mark.keys.length > 0 ? "found by " : "";
}

function lineSample(look) {
  return styled(h("span.line-sample", { "aria-hidden": "true" }), { "background-image": patternOf(look) });
}

function evidenceOf(mark, pane) {
  const list = mark.span.evidence ?? [];
  if (list.length === 0) return null;
  const places = list.map((evidence, index) =>
    button(
      [h("bdi.quote", {}, clipped(evidence.text, 160)), h("span.where", {}, "in ", bdi(evidence.input))],
      () => openEvidence(pane, mark, index),
      { kind: ".evidence", title: "Go to this passage of the input (o)" },
    ),
  );
  return h("div.evidences", {}, h("span.small-title", {}, "Evidence"), places);
}

function otherSpans(pane, others, at) {
  const show = (mark) => button(`Span ${mark.number}`, () => showMark(pane, mark, { isPinned: true, at }), { kind: ".quiet" });
  return h("p.others", {}, "also here: ", others.map(show));
}

function spoken(mark, pane) {
  const { span } = mark;
  const quote = span.text ? `“${clipped(span.text, 60)}”` : "Something is missing";
  const parts = [`Span ${mark.number} of ${pane.marks.length}: ${quote}`, span.severity ? `severity ${span.severity}` : "", span.category, span.explanation];
  const evidence = (span.evidence ?? []).length;
  if (evidence > 0) parts.push(`${counted(evidence, "place")} of evidence: press o`);
  return parts.filter((part) => part).join(". ");
}

// Below the span, or above it where there is no room, and beside the inputs, whose evidence it lights;
// on a narrow page CSS puts it at the bottom.
function placeCard(card, at) {
  const boxes = [...at.getClientRects()];
  const box = boxes[0] ?? at.getBoundingClientRect();
  const room = { width: document.documentElement.clientWidth, height: innerHeight };
  const column = at.closest(".text").getBoundingClientRect();
  const right = Math.min(room.width - 12, Math.max(column.right, column.left + card.offsetWidth));
  const left = Math.max(8, Math.min(box.left, right - card.offsetWidth));
  const last = boxes.length > 3 ? box : (boxes.at(-1) ?? box);
  const under = columnBottom(column, last, card);
  if (active.isPinned && under !== null) return void styled(card, { left: `${left + scrollX}px`, top: `${under + scrollY}px` });
  const isAbove = last.bottom + card.offsetHeight + 10 > room.height && box.top - card.offsetHeight - 6 > 0;
  const top = isAbove ? box.top - card.offsetHeight - 6 : Math.min(last.bottom + 6, room.height - card.offsetHeight - 8);
  styled(card, { left: `${left + scrollX}px`, top: `${Math.max(8, top) + scrollY}px` });
}

// A short text is scrolled up as far as its card needs room below it.
function makeRoom(text, card) {
  const [box, room] = [text.getBoundingClientRect(), byId("row").getBoundingClientRect()];
  const missing = box.bottom + card.offsetHeight + 16 - innerHeight;
  if (missing > 0 && box.height < innerHeight / 3 && box.top - missing > room.top) byId("row").scrollTop += missing;
}

// What the keyboard or a click has chosen stands under a short text, so that the text can be read on.
function columnBottom(column, last, card) {
  const isNear = column.bottom - last.bottom < 150 && column.bottom + card.offsetHeight + 12 < innerHeight;
  return isNear ? column.bottom + 4 : null;
}

// n and p walk the spans of all texts that are shown, those without a place after the others.
function stepMark(by) {
  const all = panes.flatMap((pane) => pane.marks.filter((mark) => !isHidden(mark)).map((mark) => ({ pane, mark })));
  if (all.length === 0) return say("This row has no span.");
  const place = active === null ? -1 : all.findIndex(({ mark }) => mark === active.mark);
  const next = place < 0 ? (by > 0 ? 0 : all.length - 1) : (place + by + all.length) % all.length;
  visitMark(all[next].pane, all[next].mark);
}

function visitMark(pane, mark) {
  const element = mark.element ?? mark.item;
  for (const piece of pane.element.querySelectorAll(".piece[tabindex='0']")) piece.tabIndex = -1;
  if (mark.element) mark.element.tabIndex = 0;
  element?.scrollIntoView({ block: "nearest" });
  showMark(pane, mark, { isPinned: true });
  element?.focus({ preventScroll: true });
}

on("row", hideCard);
on("seats", hideCard);
addEventListener("resize", hideCard);
document.addEventListener("pointerdown", (event) => {
  if (active?.isPinned && !event.target.closest("#card, .text, .finding, .input")) hideCard();
});
byId("card").addEventListener("mouseenter", () => clearTimeout(hiding));
byId("card").addEventListener("mouseleave", hideUnpinned);
