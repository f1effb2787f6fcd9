// Judges' spans accepted, edited or rejected, and a person's own ones, on the text and in the list.
const NEW_SPAN = { start: null, end: null, text: "", severity: null, category: "", explanation: "", verdict: "own", origin: null };

function isJudges(mark) {
  return typeof mark.id === "number" && mark.tone !== "own";
}

// Whether the verdict buttons make sense: the panel's spans of the row that is marked.
function canJudge(mark, shown) {
  return isMarking() && state.pair === null && state.onlySeat === null && markShown() !== null && shown.number === state.shown.number && (isJudges(mark) || ownIndex(mark) !== null);
}

function ownIndex(mark) {
  return typeof mark.id === "string" && mark.id.startsWith("own-") ? Number(mark.id.slice(4)) : null;
}

function isFrom(origin, mark) {
  return origin !== null && origin !== undefined && origin.run === mark.side && origin.span === mark.id;
}

// Two runs may have found one error: accepting it in one is accepting it in both.
function isOf(span, mark) {
  const isThere = span.verdict === "accepted" && mark.isPlaced && span.start === mark.span.start && span.end === mark.span.end;
  return isFrom(span.origin, mark) || isThere;
}

function verdictOf(mark) {
  const mine = markShown();
  if (mine === null || !isJudges(mark)) return null;
  if (mine.rejected.some((origin) => isFrom(origin, mark))) return "rejected";
  return mine.spans.find((span) => isOf(span, mark))?.verdict ?? null;
}

// An accepted span stands on the text as the judge's; without results (blind) it is drawn as one's own.
function ownMarks(shown) {
  const mine = isMarking() && state.pair === null ? (marking.marks.get(shown.number) ?? null) : null;
  if (mine === null) return [];
  return mine.spans.flatMap((span, index) => {
    const isTheirs = span.verdict === "accepted" && span.origin && shown.row.results[span.origin.run]?.spans[span.origin.span];
    return isTheirs ? [] : [markOf({ ...span, severity: span.severity ?? undefined }, { id: `own-${index}`, side: 0, keys: [ownKey()], tone: "own" })];
  });
}

function ownKey() {
  return `marks of ${marking.who}`;
}

function ownTracks() {
  return isMarking() && state.pair === null ? [{ key: ownKey(), name: marking.who, look: "gold" }] : [];
}

function verdictButtons(mark, shown, place) {
  if (!canJudge(mark, shown)) return null;
  const named = (what) => ({ kind: ".verdict-button", "data-mark": `${place} ${what} ${mark.side} ${mark.id}` });
  if (!isJudges(mark)) {
    return h(
      "div.verdict-buttons",
      {},
      button("Edit (e)", () => editMark(mark), named("edit")),
      button("Remove (r)", () => removeSpan(ownIndex(mark)), named("remove")),
    );
  }
  const verdict = verdictOf(mark);
  return h(
    "div.verdict-buttons",
    { role: "group", "aria-label": `Your verdict on span ${mark.number}` },
    button("Accept (a)", () => acceptMark(mark), { ...named("accept"), "aria-pressed": String(verdict === "accepted") }),
    button("Reject (r)", () => rejectMark(mark), { ...named("reject"), "aria-pressed": String(verdict === "rejected") }),
    button(verdict === "edited" ? "Edited (e)" : "Edit (e)", () => editMark(mark), { ...named("edit"), "aria-pressed": String(verdict === "edited") }),
  );
}

function withoutVerdict(mine, mark) {
  mine.spans = mine.spans.filter((span) => !isOf(span, mark));
  mine.rejected = mine.rejected.filter((origin) => !isFrom(origin, mark));
}

function copyOf(mark) {
  const { span } = mark;
  const severity = span.severity === null || span.severity === undefined ? null : mark.severity;
  const place = mark.isPlaced ? { start: span.start, end: span.end } : { start: null, end: null };
  return { ...NEW_SPAN, ...place, text: span.text ?? "", severity, category: span.category ?? "", explanation: span.explanation ?? "", verdict: "accepted", origin: { run: mark.side, span: mark.id } };
}

// A second press takes a verdict back.
function acceptMark(mark) {
  const isBack = verdictOf(mark) === "accepted";
  changeShown((mine) => {
    withoutVerdict(mine, mark);
    if (!isBack) mine.spans.push(copyOf(mark));
  });
  say(`Span ${mark.number} ${isBack ? "has no verdict" : "accepted"}`);
}

function rejectMark(mark) {
  const isBack = verdictOf(mark) === "rejected";
  changeShown((mine) => {
    withoutVerdict(mine, mark);
    if (!isBack) mine.rejected.push({ run: mark.side, span: mark.id });
  });
  say(`Span ${mark.number} ${isBack ? "has no verdict" : "rejected"}`);
}

function editMark(mark) {
  const mine = markShown();
  let index = isJudges(mark) ? mine.spans.findIndex((span) => isOf(span, mark)) : ownIndex(mark);
  if (index < 0) {
    changeShown((changed) => {
      withoutVerdict(changed, mark);
      changed.spans.push(copyOf(mark));
    });
    index = markShown().spans.length - 1;
  }
  openEditor(index);
}

function removeSpan(index) {
  marking.editing = null;
  changeShown((mine) => mine.spans.splice(index, 1));
  say("Span removed");
}

function changeShown(change, options = {}) {
  if (markShown() === null) return;
  changeMark(state.shown.number, change, options);
  refreshMarks();
}

let refreshing = 0;

// After typing: a click that ended it must not miss what it was meant for, so nothing moves at once.
function refreshLater() {
  clearTimeout(refreshing);
  refreshing = setTimeout(() => refreshMarks({ keepsPanel: byId("marking")?.contains(document.activeElement) ?? false }), 400);
}

// The texts, their lists and the panel again, with the keyboard where it was.
function refreshMarks({ keepsPanel = false } = {}) {
  clearTimeout(refreshing);
  const { mark: focused, place } = document.activeElement?.dataset ?? {};
  const was = active === null ? null : { id: active.mark.id, side: active.mark.side, isPinned: active.isPinned };
  const pane = state.pair === null ? panes[0] : undefined;
  if (pane && state.shown !== null) {
    hideCard();
    pane.marks = numbered([...pane.marks.filter(({ tone, id }) => !(tone === "own" && String(id).startsWith("own-"))), ...ownMarks(state.shown)]);
    drawPane(pane);
    byId("row").querySelector("section.findings")?.replaceWith(drawFindings(pane));
    byId("row").querySelector(".legend")?.replaceWith(drawLegend(pane.tracks, pane.marks));
    const again = was && pane.marks.find(({ id, side }) => id === was.id && side === was.side);
    if (again && was.isPinned) showMark(pane, again, { isPinned: true });
  }
  showVerdicts();
  if (!keepsPanel) drawPanel();
  const back = focused && document.querySelector(`[data-mark="${CSS.escape(focused)}"]`);
  if (back && !place) back.focus({ preventScroll: true });
}

// A piece of several spans shows no verdict: it would be of all of them.
function showVerdicts() {
  for (const pane of panes) {
    const verdicts = new Map(pane.marks.map((mark) => [String(mark.number), verdictOf(mark) ?? ""]));
    for (const mark of pane.marks) if (mark.item) mark.item.dataset.verdict = verdicts.get(String(mark.number));
    for (const piece of pane.element.querySelectorAll(".piece")) piece.dataset.verdict = verdicts.get(piece.dataset.marks) ?? "";
  }
}

// Keys act on the span whose card is open.
function onActive(act) {
  return () => {
    if (!isMarking()) return say("Press Mark first to mark errors yourself");
    if (active === null || !canJudge(active.mark, active.pane.row)) return say("Choose a span first with n or p");
    act(active.mark);
  };
}
