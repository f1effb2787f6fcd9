// Spans as marks on a text: who found them, how they are painted, and where texts are cut for them.
const GOLD = "people";

// Those who mark a text, each with a colour and a kind of line: seats, two runs, or people.
function seatTracks(result) {
  return result.seats.map(({ judge }, index) => ({ key: judge, name: judge, look: index }));
}

function runTracks() {
  return state.head.runs.map(({ name }, index) => ({ key: `run ${index}`, name, look: index, isRun: true }));
}

function goldTrack() {
  return { key: GOLD, name: isExam() ? "planted" : "people's spans", look: "gold" };
}

function markOf(span, { id, side, keys, tone = null }) {
  const isPlaced = span.start !== null && span.start !== undefined && span.end > span.start;
  return { id, side, span, keys, tone, isPlaced, severity: severityOf(span), element: null, item: null };
}

function severityOf(span) {
  return Math.min(HIGHEST_SEVERITY, Math.max(1, Math.ceil(span.severity ?? 1)));
}

// The panel's spans, or the own spans of the one seat that was asked for.
function panelMarks(result, side) {
  if (!result) return [];
  const only = state.onlySeat?.side === side ? result.seats.find(({ judge }) => judge === state.onlySeat.name) : null;
  const spans = only ? only.spans : result.spans;
  return spans.map((span, index) => markOf(span, { id: index, side, keys: only ? [only.judge] : (span.found_by ?? []) }));
}

function isGoldShown() {
  return state.isGoldShown ?? (isExam() || state.filters.has("caught"));
}

function goldMarks(text) {
  if (!isGoldShown() || !text) return [];
  return (text.gold ?? []).map((span, index) => markOf(span, { id: `gold-${index}`, side: 0, keys: [GOLD], tone: "gold" }));
}

// Two runs on one text: what overlaps a span of the other run is found by both, and the same place
// in both is one mark, whose `twin` is the other run's span.
function comparedMarks(results) {
  const spans = results.map((result) => result?.spans ?? []);
  const twins = spans[0].map((span) => spans[1].find((other) => isSamePlace(span, other)) ?? null);
  return spans.flatMap((own, side) =>
    own.flatMap((span, index) => {
      if (side === 1 && twins.includes(span)) return [];
      const twin = side === 0 ? twins[index] : null;
      const isInBoth = twin !== null || spans[1 - side].some((other) => overlaps(span, other));
      const keys = twin === null ? [`run ${side}`] : ["run 0", "run 1"];
      return [{ ...markOf(span, { id: index, side, keys, tone: isInBoth ? "both" : ["first", "second"][side] }), twin }];
    }),
  );
}

function isSamePlace(one, other) {
  return one.start !== null && one.start === other.start && one.end === other.end;
}

// Unplaced spans are the same where their quotes are.
function overlaps(one, other) {
  if (one.start === null || other.start === null) return one.start === other.start && one.text === other.text;
  return one.start < other.end && other.start < one.end;
}

// Numbered in the order of the text; those without a place come last.
function numbered(marks) {
  const place = ({ isPlaced, span }) => (isPlaced ? span.start : Infinity);
  const sortedMarks = [...marks].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)) || (a.span.end ?? 0) - (b.span.end ?? 0));
  sortedMarks.forEach((mark, index) => {
    mark.number = index + 1;
  });
  return sortedMarks;
}

function isHidden(mark) {
  return mark.keys.length > 0 && mark.keys.every((key) => state.hiddenSeats.has(key));
}

// Pieces of a text, cut where a mark begins or ends: [{ start, end, marks }] in places of the string.
function cutText(text, marks) {
  const placed = marks.filter((mark) => mark.isPlaced);
  const at = offsetsOf(text, placed.flatMap(({ span }) => [span.start, span.end]));
  const edges = placed.flatMap((mark) => [
    { at: at(mark.span.start), mark, isStart: true },
    { at: at(mark.span.end), mark, isStart: false },
  ]);
  edges.sort((a, b) => a.at - b.at);
  const pieces = [];
  const current = new Set();
  let last = 0;
  for (const edge of edges) {
    if (edge.at > last) pieces.push({ start: last, end: edge.at, marks: [...current] });
    last = Math.max(last, edge.at);
    if (edge.isStart) current.add(edge.mark);
    else current.delete(edge.mark);
  }
  if (last < text.length) pieces.push({ start: last, end: text.length, marks: [] });
  return pieces;
}

// The shortest span is the innermost: it is what a pointer on it means.
function innermost(marks) {
  return [...marks].sort((a, b) => a.span.end - a.span.start - (b.span.end - b.span.start))[0];
}
