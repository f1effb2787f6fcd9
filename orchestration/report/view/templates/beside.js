// Two side by side: two runs on the same texts, two systems of one run, or an exam's text and its original.
let isCleanWanted = true; // until a reader or the address says otherwise

// An exam opens with each changed text beside its original.
function startWithClean() {
  if (!isCleanWanted || !isExam() || isCompared() || state.pair !== null || state.blind !== null) return;
  state.pair = CLEAN_PAIR;
  drawTools();
  drawControls();
}

function startPair(names) {
  isCleanWanted = names === CLEAN_PAIR;
  state.pair = names;
  if (names === null && state.sort === "difference") state.sort = DEFAULT_SORT;
  findPartners();
  drawTools();
  drawControls();
  changeFilters();
  drawComparison();
  if (!state.order.includes(state.chosen)) choose(state.order[0] ?? -1);
  else redrawRow();
}

// The menus that choose two systems; one system has nothing beside it.
function drawPairing() {
  const { systems } = table.names;
  if (isCompared() || state.blind !== null) return null;
  if (state.pair === CLEAN_PAIR) return button("Hide the originals", () => startPair(null));
  if (isExam()) return button("Show the originals beside", () => startPair(CLEAN_PAIR));
  if (systems.length < 2) return null;
  if (state.pair === null) return button("Compare two systems", () => startPair(systems.slice(0, 2)));
  const choice = (side) => {
    const options = systems.map((name) => h("option", { value: name, selected: name === state.pair[side] }, name || "(no name)"));
    const onchange = (event) => startPair(side === 0 ? [event.target.value, state.pair[1]] : [state.pair[0], event.target.value]);
    return h("select", { "aria-label": `${["First", "Second"][side]} system`, onchange }, options);
  };
  return h("span.pairing", {}, choice(0), h("span", {}, "beside"), choice(1), button("Stop comparing", () => startPair(null), { kind: ".quiet" }));
}

// Results and names of the two sides of a row.
function sidesOf(shown) {
  if (state.pair !== null && shown.other) {
    const isWithClean = state.pair === CLEAN_PAIR;
    const sides = isWithClean ? [shown.other, shown] : [shown, shown.other];
    const names = isWithClean ? sides.map(({ number }, side) => conditionOf(number) || CLEAN_PAIR[side]) : state.pair;
    return sides.map((side, index) => ({ number: side.number, run: 0, name: names[index], row: side.row, text: side.text, result: side.row.results[0] }));
  }
  return state.head.runs.map(({ name }, run) => ({ number: shown.number, run, name: isCompared() ? name : null, row: shown.row, text: shown.texts[run] ?? shown.text, result: shown.row.results[run] ?? null }));
}

function drawVerdicts(sides, aspect) {
  if (sides.length === 1) return drawVerdict(sides[0].result, aspect);
  const [first, second] = sides.map(({ result }) => result?.score ?? null);
  const difference = first === null || second === null ? null : second - first;
  const words = difference === null ? null : h("p.difference", {}, state.pair === CLEAN_PAIR ? "Changed minus original: " : "Second minus first: ", h(`b${toneOf(difference)}`, {}, signed(difference)));
  return h("div.verdicts", {}, sides.map(({ result, name }, side) => drawVerdict(result, aspect, { name, side })), words);
}

// Spans of the text by who found them; one text for runs that judged the same one, two for systems.
function drawTexts(shown, sides) {
  if (sides.length > 1 && (state.pair !== null || shown.texts.length > 1)) return drawTwoTexts(sides);
  const isTwo = sides.length > 1;
  const own = isTwo && state.onlySeat === null ? comparedMarks(sides.map(({ result }) => result)) : panelMarks(sides[state.onlySeat?.side ?? 0].result, state.onlySeat?.side ?? 0);
  const tracks = isTwo && state.onlySeat === null ? runTracks() : seatTracks(sides[state.onlySeat?.side ?? 0].result ?? { seats: [] });
  const pane = newPane(shown, { own, tracks, label: "The text", isScored: sides.some(({ result }) => result?.outcome === "scored") });
  return drawOneText(pane, shown, drawKey(pane, isTwo && state.onlySeat === null));
}

function newPane(shown, { own, tracks, label, isScored, side = 0 }) {
  const gold = goldMarks(shown.text).map((mark) => ({ ...mark, side }));
  const added = side === 0 ? { marks: fromParts("marks", shown).flat(), tracks: fromParts("tracks", shown).flat() } : { marks: [], tracks: [] };
  const marks = numbered([...own, ...gold, ...added.marks]);
  return makePane({
    text: shown.text?.output ?? "",
    marks,
    tracks: [...tracks, ...(gold.length > 0 ? [goldTrack()] : []), ...added.tracks],
    row: shown,
    label,
    isScored,
    isBlind: state.blind !== null && shown.row.results.every((result) => result === null),
  });
}

function drawTwoTexts(sides) {
  const made = sides.map(({ result, name, row, text, number }, side) => {
    const own = panelMarks(result, side);
    return newPane({ number, row, text }, { own, tracks: seatTracks(result ?? { seats: [] }), label: `The text of ${name}`, isScored: result?.outcome === "scored", side });
  });
  const written = sides.map(({ text }) => JSON.stringify(text?.inputs ?? null));
  const isOneSource = written[0] === written[1];
  const inputsFor = ({ text, row }, marks) => text && h("div.inputs-below", {}, drawInputs(text, row, marks));
  const columns = made.map((pane, side) => {
    const own = isOneSource ? null : inputsFor(sides[side], pane.marks);
    return h("section.side", {}, h(`h3.side-name.side-${side}`, {}, bdi(sides[side].name)), drawText(pane), drawFindings(pane), own);
  });
  const shared = isOneSource ? inputsFor(sides[0], made.flatMap(({ marks }) => marks)) : null;
  const tracks = new Map(made.flatMap((pane) => pane.tracks.map((track) => [track.key, track])));
  return [drawKey({ tracks: [...tracks.values()], marks: made.flatMap(({ marks }) => marks) }, false), h("div.two-texts", {}, columns), shared];
}

function drawKey({ tracks, marks }, isTwoRuns) {
  const gold = panes.reduce((sum, { row }) => sum + (row.text?.gold ?? []).length, 0);
  const label = isExam() ? counted(gold, "planted span") : `${counted(gold, "span")} of people`;
  const toggle = gold === 0 ? null : button(`${isGoldShown() ? "Hide" : "Show"} ${label}`, toggleGold, { kind: ".chip", "aria-pressed": String(isGoldShown()), "data-key": "gold toggle" });
  return h("div.key", {}, onlySeatLine(), drawLegend(tracks, marks), toggle, rawSwitch(), isTwoRuns ? drawToneKey() : drawSeverityKey());
}

function rawSwitch() {
  if (!panes.some((pane) => pane.layout.isMarkdown && !isByTurn(pane))) return null;
  return button("Raw text", toggleRaw, { kind: ".chip", "aria-pressed": String(state.isRaw), title: "Show the text as written, without Markdown formatting", "data-key": "raw" });
}

function toggleRaw() {
  state.isRaw = !state.isRaw;
  saveState();
  redrawRow();
  document.querySelector("[data-key='raw']")?.focus({ preventScroll: true });
}

function onlySeatLine() {
  if (state.onlySeat === null) return null;
  return h("p.only-seat", {}, "Only the spans of ", h("b", {}, bdi(state.onlySeat.name)), " ", button("Show all", () => showOnly(null)));
}

function drawToneKey() {
  const words = { both: "in both", first: "only in the first", second: "only in the second" };
  return h("div.severity-key", {}, Object.entries(words).map(([tone, text]) => h("span.swatch", { "data-tone": tone }, text)));
}

function toggleGold() {
  state.isGoldShown = !isGoldShown();
  redrawRow();
  document.querySelector("[data-key='gold toggle']")?.focus({ preventScroll: true });
}
