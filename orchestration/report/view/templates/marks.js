// People's marks on the page: the panel below the text, the tools above, and what hooks them in.
function startMarking({ who, isBlind, isRandom }) {
  Object.assign(marking, { who, isBlind, isRandom, editing: null });
  if (who === null) state.filters.delete("marks");
  for (const kept of [marking.marked, marking.marks, marking.conflicts, marking.loading, marking.texts]) kept.clear();
  if (who !== null && !state.head.marking.annotators.includes(who)) state.head.marking.annotators.push(who);
  state.sort = isRandom ? "random" : isBlind || state.sort === "random" ? "file" : state.sort;
  state.blind = isBlind ? who : null;
  state.pair = null;
  isCleanWanted = false;
  remember();
}

async function changeMarking(given) {
  await allSaved();
  const wasBlind = state.blind;
  startMarking(given);
  sorted = { by: "", rows: -1, numbers: [] };
  drawControls();
  drawTools();
  if (wasBlind !== state.blind) await readAgain();
  else changeFilters();
  if (marking.who !== null) await readMarked();
  if (marking.isRandom && state.order.length > 0) choose(state.order[0]);
  state.shown = null;
  redrawRow();
}

// Without or with what judges said: all that was read of the rows is read again.
async function readAgain() {
  source.forget();
  resetColumns();
  await readColumns();
}

// The same order for a name in every session, and another for every name.
function randomPlace(number) {
  const name = `${marking.who}\u0000${table.id[number]}\u0000${systemOf(number)}\u0000${table.aspect[number]}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function drawMarkTools() {
  if (!canMark()) return null;
  if (!isMarking()) return button("Mark", openMarking, { title: "Mark the errors yourself" });
  return h(
    "span.mark-tools",
    {},
    button(["Marking as ", bdi(marking.who)], openMarking, { kind: ".who", title: "Change who marks, hide judges, or stop" }),
    h("span", { id: "progress" }),
    h("span", { id: "saved", role: "status", "aria-live": "polite" }),
  );
}

function drawProgress() {
  const holder = byId("progress");
  if (!holder) return;
  const done = [...marking.marked.values()].filter(({ is_done: isDone }) => isDone).length;
  const all = table.isDone ? table.rows : (state.head.rows ?? table.rows);
  const words = `${inThousands(done)} of ${inThousands(all)} done`;
  holder.replaceChildren(h("progress", { max: Math.max(1, all), value: done, "aria-label": words }), h("span.count", {}, words));
}

// Above, and beside the button below the text, which a narrow page shows without what is above.
function drawSaved() {
  const troubles = [...marking.unsaved.values()].map(({ trouble }) => trouble).filter((trouble) => trouble !== null);
  const [disputed] = marking.conflicts.keys();
  const words = troubles.length > 0 ? "not saved" : disputed !== undefined ? "two versions" : marking.unsaved.size > 0 ? "saving …" : "saved";
  for (const id of ["saved", "saved-below"]) {
    const isElsewhere = words === "two versions" && disputed !== state.shown?.number;
    const holder = byId(id);
    holder?.replaceChildren(isElsewhere ? button("two versions: choose", () => choose(disputed), { kind: ".quiet" }) : words);
    if (holder) holder.dataset.state = words.split(" ")[0];
  }
  if (troubles.length > 0) {
    showTrouble(new SourceError(`${counted(marking.unsaved.size, "mark")} not saved: ${troubles[0]} Your marks are kept on this page: leave it open.`), sendUnsaved);
    byId("trouble").dataset.of = "marks";
  } else if (byId("trouble").dataset.of === "marks") {
    byId("trouble").hidden = true;
    delete byId("trouble").dataset.of;
  }
}

function drawBadge(number) {
  const about = isMarking() ? marking.marked.get(number) : undefined;
  if (!about) return null;
  return h(`span.badge${about.is_done ? ".is-done" : ""}`, {}, about.is_done ? "done" : "begun");
}

// The panel is drawn into its own place, so that a change needs no other part of the row.
function drawBelow(shown) {
  if (!isMarking()) return null;
  if (shown.text === null) return h("p.note", {}, "The text of this row is missing, so it cannot be marked.");
  if (state.pair !== null) return h("p.note", {}, "Stop comparing to mark.");
  if (!isMarkable(shown)) {
    return h("p.note", {}, "Marks are saved with the first run, which does not have this row. Open the second run alone to mark it.");
  }
  if (!marking.marks.has(shown.number)) {
    trying(async () => {
      await loadMark(shown.number);
      if (state.shown?.number === shown.number) redrawRow();
    });
  }
  const next = nextToMark();
  if (next !== null) loadMark(next).catch(() => null); // read before it is asked for
  return h("section.marking", { id: "marking", tabindex: "-1", "aria-label": "Your marks" }, panelParts(shown));
}

function drawPanel() {
  const panel = byId("marking");
  if (!panel || state.shown === null) return;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.mark : undefined;
  const selection = [document.activeElement?.selectionStart, document.activeElement?.selectionEnd];
  panel.replaceChildren(...panelParts(state.shown));
  drawSaved();
  const back = focused && panel.querySelector(`[data-mark="${CSS.escape(focused)}"]`);
  if (!back) return;
  back.focus({ preventScroll: true });
  if (back.matches("input[type='text'], textarea")) back.setSelectionRange(...selection);
}

function panelParts(shown) {
  const mine = marking.marks.get(shown.number);
  if (!mine) return [h("p.note", {}, "Loading your marks …")];
  const conflict = marking.conflicts.get(shown.number);
  if (conflict) return [drawConflict(shown.number, mine, conflict)];
  const { editing } = marking;
  const isEditing = editing?.number === shown.number && editing.index < mine.spans.length;
  return [
    h("div.marking-head", {}, h("h3", {}, "Marks of ", bdi(marking.who)), markAdders()),
    drawOwnSpans(mine, isEditing ? editing.index : -1),
    drawNote(shown.number, mine),
    drawScoreChoice(shown.number, mine),
    drawDone(mine),
    drawTextAspects(shown.number),
  ].filter((part) => part);
}

function markAdders() {
  const keepSelection = (event) => event.preventDefault(); // a press would take the selection away
  return h(
    "span.adders",
    {},
    button("Mark the selected text (m)", () => addSpan(), { onmousedown: keepSelection, "data-mark": "panel add", "aria-keyshortcuts": "m" }),
    button("Something is missing", () => addSpan({ isOmission: true }), { "data-mark": "panel omission" }),
    button("Guideline (g)", openGuideline, { kind: ".quiet", "data-mark": "panel guideline", "aria-keyshortcuts": "g" }),
  );
}

const VERDICT_WORDS = { accepted: "accepted", edited: "a judge's, edited", own: "your own" };

function drawOwnSpans(mine, edited) {
  const rejected = mine.rejected.length > 0 ? h("p.note", {}, `${counted(mine.rejected.length, "span")} of judges rejected.`) : null;
  if (mine.spans.length === 0) return h("div", {}, h("p.note", {}, mine.is_done ? "You marked no error in this text." : `No span yet. Select a part of the text and press m${state.blind === null ? ", or accept a judge's span with a" : ""}.`), rejected);
  const items = mine.spans.map((span, index) =>
    h(
      `li.own-span${index === edited ? ".is-edited" : ""}`,
      {},
      h(
        "div.own-line",
        {},
        h("span.number", { "data-severity": span.severity ?? 0 }, span.severity ?? "–"),
        span.text ? h("bdi.quote", {}, clipped(span.text, 120)) : h("i", {}, "something is missing"),
        span.category && h("bdi.category", {}, span.category),
        h("span.note", {}, VERDICT_WORDS[span.verdict]),
        h(
          "span.own-buttons",
          {},
          button("Edit", () => (index === edited ? closeEditor() : openEditor(index)), { kind: ".quiet", "aria-expanded": String(index === edited), "data-mark": `own edit ${index}` }),
          button("Remove", () => removeSpan(index), { kind: ".quiet", "data-mark": `own remove ${index}` }),
        ),
      ),
      index === edited && drawEditor(index),
    ),
  );
  return h("div", {}, h("ol.own-spans", {}, items), rejected);
}

// The scores of a scale of few steps; none where any number on it is a score.
function wholeScores({ low, high }) {
  const isScale = Number.isInteger(low) && Number.isInteger(high) && high - low < 11;
  return isScale ? Array.from({ length: high - low + 1 }, (_, at) => low + at) : [];
}

function scoreWithin({ low, high }, text) {
  return text === "" ? null : Math.min(high, Math.max(low, Number(text)));
}

function drawScoreChoice(number, mine) {
  const aspect = aspectOf(number);
  const choose_ = (score) => changeShown((changed) => (changed.score = score));
  const scores = wholeScores(aspect);
  if (scores.length === 0 || (mine.score !== null && !scores.includes(mine.score))) {
    const onchange = (event) => {
      changeMark(number, (changed) => (changed.score = scoreWithin(aspect, event.target.value)));
      refreshLater();
    };
    const input = h("input", { type: "number", min: aspect.low, max: aspect.high, step: "any", value: mine.score ?? "", "data-mark": "score", onchange });
    return h("label.field", {}, `Score for ${aspect.name}, from ${aspect.low} to ${aspect.high}`, input);
  }
  const choices = scores.map((score) => {
    const input = h("input", { type: "radio", name: "score", checked: mine.score === score, "data-mark": `score ${score}`, onchange: () => choose_(score) });
    return h("label.choice", {}, input, h("b", {}, score), aspect.labels && h("span.choice-label", {}, labelOf(score, aspect)));
  });
  const none = mine.score === null ? null : button("No score", () => choose_(null), { kind: ".quiet", "data-mark": "score none" });
  return h("fieldset.choices.scores", {}, h("legend", {}, "Score for ", bdi(aspect.name)), choices, none);
}

function drawNote(number, mine) {
  const note = h("textarea", {
    rows: 1,
    value: mine.note,
    maxlength: 10000,
    "data-mark": "note",
    oninput: (event) => changeMark(number, (changed) => (changed.note = event.target.value), { isTyping: true }),
  });
  return h("label.field", {}, "Note", note);
}

function drawDone(mine) {
  const isLast = nextToMark() === null;
  const hidden = marking.isBlind && !mine.is_done;
  const label = mine.is_done ? (isLast ? "No row is left" : "Next row to mark (d)") : hidden ? "Done, show the judges (d)" : isLast ? "Done (d)" : "Done, next (d)";
  return h(
    "div.done-line",
    {},
    button(label, finishRow, { kind: ".done", disabled: mine.is_done && isLast, "data-mark": "done", "aria-keyshortcuts": "d" }),
    mine.is_done && h("span.is-done", {}, "✓ done"),
    mine.is_done && button("Not done yet", reopenRow, { kind: ".quiet", "data-mark": "undone" }),
    h("span", { id: "saved-below", "aria-hidden": "true" }),
  );
}

function drawConflict(number, mine, theirs) {
  const version = (title, mark, isMine) =>
    h(
      "div.version",
      {},
      h("h4", {}, title),
      h("p", {}, `Score ${mark.score ?? "none"}, ${counted(mark.spans.length, "span")}, ${mark.is_done ? "done" : "not done"}.`),
      h("ul", {}, mark.spans.map((span) => h("li", {}, h("bdi.quote", {}, span.text ? clipped(span.text, 80) : "something is missing"), span.severity ? ` severity ${span.severity}` : ""))),
      mark.note && h("p", { dir: "auto" }, mark.note),
      button(isMine ? "Keep this one" : "Take this one", () => keepVersion(number, isMine), { "data-mark": isMine ? "mine" : "theirs" }),
    );
  return h("div.conflict", { role: "alert" }, h("h3", {}, "This mark was changed in the meantime, in another window or by someone with the same name"), h("div.versions", {}, version("On this page", mine, true), version("Saved since", theirs, false)));
}

// The next row of the list that is not done, from the chosen one on and around.
function nextToMark() {
  const place = placeOf(state.chosen);
  const around = [...state.order.slice(place + 1), ...state.order.slice(0, Math.max(0, place))];
  return around.find((number) => !marking.marked.get(number)?.is_done) ?? null;
}

function finishRow() {
  const mine = markShown();
  if (mine === null) return say("Your marks of this row are still loading");
  const { number } = state.shown;
  marking.editing = null;
  if (mine.is_done) return goToNext();
  finishRows([number]);
  say("Done");
  if (!marking.isBlind) goToNext();
}

function goToNext() {
  const next = nextToMark();
  if (next === null) {
    say("Every row of the list is done");
    return false;
  }
  choose(next);
  return true;
}

function reopenRow() {
  changeShown((mine) => (mine.is_done = false));
}

function pressDone(finish) {
  if (!isMarking()) return say("Press Mark first to mark errors yourself");
  finish();
}

const MARK_STATES = ["not begun", "begun", "done"];
FACETS.push({
  key: "marks",
  label: "Your marks",
  size: () => (isMarking() ? MARK_STATES.length : 0),
  name: (index) => MARK_STATES[index],
  of: (number) => (isMarking() ? Number(marking.marked.has(number)) + Number(marking.marked.get(number)?.is_done ?? false) : -1),
});

const MARKING_KEYS = [
  { key: "a", label: "Marking: accept the span", act: onActive((mark) => isJudges(mark) && acceptMark(mark)) },
  { key: "r", label: "Marking: reject the span; remove your own", act: onActive((mark) => (isJudges(mark) ? rejectMark(mark) : removeSpan(ownIndex(mark)))) },
  { key: "e", label: "Marking: edit the span", act: onActive(editMark) },
  { key: "m", label: "Marking: a new span on the selected text", act: () => addSpan() },
  { key: "d", label: "Marking: done, next", act: () => pressDone(finishRow) },
  { key: "g", label: "Marking: the guideline", act: openGuideline },
  { key: "D", label: "Marking: done with all aspects of the text", act: () => pressDone(finishText) },
];

addPart({
  begin() {
    if (!canMark()) return;
    DIRECTIONS.random = ["Random, your own order", randomPlace];
    const kept = remembered();
    if (kept?.who) {
      startMarking(kept);
      trying(readMarked);
    }
    if (!isMarking() && state.sort === "random") state.sort = DEFAULT_SORT;
    drawControls();
    drawTools();
  },
  tools: () => {
    queueMicrotask(() => {
      drawProgress();
      drawSaved();
    });
    return drawMarkTools();
  },
  reopen: sendToServer,
  badge: drawBadge,
  below: drawBelow,
  marks: ownMarks,
  tracks: ownTracks,
  onCard: (mark, shown) => verdictButtons(mark, shown, "card"),
  onFinding: (mark, shown) => verdictButtons(mark, shown, "list"),
  get keys() {
    return state.head?.marking ? MARKING_KEYS : []; // a page from disk keeps no marks
  },
});
on("drawn", () => {
  showVerdicts();
  drawSaved();
});
