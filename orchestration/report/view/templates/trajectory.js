// A trajectory as a conversation: what others said stands between the agent's turns, and the arguments of
// a call are indented. The agent's own text stays whole and in order, so that offsets and marks hold.
const SPEAKERS = { system: "Instructions", user: "User", assistant: "Agent", tool: "Result" };
const SHORT_VALUE = 64; // characters of an object or a list that stays in one line

function isByTurn({ text, row }) {
  return (row.text?.turns ?? []).length > 0 && text === row.text.output;
}

function isTurn(text, header) {
  return (text.turns ?? []).some((turn) => turn.header === header);
}

function drawTurns(pane, pieces, draw) {
  const { turns } = pane.row.text;
  const regions = new Map(ownRegions(pane).map((region) => [region.number, region]));
  const context = { pane, pieces, draw };
  return turns.map((turn) => (turn.role === "assistant" ? drawOwnTurn(turn, regions.get(turn.number), context) : drawGivenTurn(turn, pane)));
}

function drawGivenTurn(turn, pane) {
  const { text } = pane.row;
  const content = drawInputText(turn.header, text, pane.marks);
  return h(`div.turn.given${turn.failed ? ".is-failed" : ""}`, { "data-role": turn.role, "data-turn": turn.number }, drawSpeaker(turn), content, drawImages(turn));
}

function drawOwnTurn(turn, region, context) {
  return h("div.turn", { "data-role": "assistant", "data-turn": turn.number }, h("div.given", {}, drawSpeaker(turn)), drawRegion(region, context), drawImages(turn));
}

function drawSpeaker(turn) {
  const name = turn.role === "tool" && turn.name ? bdi(turn.name) : null;
  return h("p.speaker", {}, h("span.turn-number", {}, turn.number), h("b", {}, SPEAKERS[turn.role]), name, turn.failed && h("span.failed", {}, "failed"));
}

// A page that shows texts of others loads nothing from elsewhere, so an image is named.
function drawImages({ images }) {
  return (images ?? []).length === 0 ? null : h("p.given.images", {}, images.map((image) => h("span", {}, "image: ", bdi(clipped(image, 120)))));
}

// What stands in a region: the pieces of the text, and the regions within it.
function drawRegion(region, context) {
  const nodes = [];
  let at = region.start;
  for (const inner of region.inner) {
    nodes.push(...drawBetween(at, inner.start, context, region));
    nodes.push(h(inner.kind, inner.attributes ?? {}, drawRegion(inner, context)));
    at = inner.end;
  }
  return [...nodes, ...drawBetween(at, region.end, context, region)];
}

// Text of the form alone, as the line before a turn and blanks between lines, is not shown unless it is marked.
function drawBetween(start, end, { pane, pieces, draw }, { isQuiet, isInLines }) {
  const isForm = isQuiet || (isInLines && pane.text.slice(start, end).trim() === "");
  return pieces
    .filter((piece) => piece.start < end && start < piece.end)
    .map((piece) => ({ ...piece, start: Math.max(start, piece.start), end: Math.min(end, piece.end) }))
    .map((piece) => {
      const drawn = draw(piece);
      return isForm && piece.marks.length === 0 ? h("span.form", {}, drawn) : drawn;
    });
}

// The regions of the agent's turns, in places of the string.
function ownRegions({ text, row }) {
  const { turns, parts } = row.text;
  const own = turns.filter(({ role }) => role === "assistant");
  const at = offsetsOf(text, [...own, ...parts].flatMap(({ start, end }) => [start, end]));
  const placed = parts.map((part) => ({ ...part, start: at(part.start), end: at(part.end) }));
  return own.map((turn) => {
    const mine = placed.filter((part) => part.turn === turn.number);
    const spoken = mine.filter(({ call }) => call === 0).map((part) => ({ ...part, kind: "div.spoken", inner: [] }));
    const calls = [...new Set(mine.map(({ call }) => call))].filter((call) => call > 0).map((call) => callRegion(mine.filter((part) => part.call === call), text));
    return { number: turn.number, start: at(turn.start), end: at(turn.end), isQuiet: true, inner: [...spoken, ...calls] };
  });
}

function callRegion([name, ...values], text) {
  const top = nested(values);
  const end = Math.max(name.end, ...values.map((part) => part.end));
  const inner = [{ ...name, kind: "b.tool-name", inner: [] }, ...top.map((part) => valueRegion(part, text, { kind: "span.arguments" }))];
  return { start: name.start, end, kind: "div.call", attributes: { "data-call": name.call }, inner };
}

// Parts come with those that hold others first.
function nested(parts) {
  const top = [];
  const open = [];
  for (const part of parts) {
    const made = { ...part, children: [] };
    while (open.length > 0 && open.at(-1).end < made.end) open.pop();
    (open.at(-1)?.children ?? top).push(made);
    open.push(made);
  }
  return top;
}

// A long object or list has a line for each of its members: the key, the value, and the comma behind it.
function valueRegion(part, text, { kind = "span.value-part" } = {}) {
  const attributes = { title: part.path };
  if (part.children.length === 0 || part.end - part.start <= SHORT_VALUE) return { ...part, kind, attributes, inner: [] };
  let from = part.start + 1;
  const members = part.children.map((child) => {
    while (text[from] === " ") from += 1;
    let end = child.end + (text[child.end] === '"' ? 1 : 0);
    if (text[end] === ",") end += 1;
    const member = { start: from, end, kind: "span.member", inner: [valueRegion(child, text)] };
    from = end;
    return member;
  });
  return { ...part, kind, attributes, inner: members, isInLines: true };
}

// Where a span stands in a trajectory, in words.
function positionWords({ at }) {
  if (!at) return null;
  return `turn ${at.turn}${at.call ? `, call ${at.call}` : ""}${at.path ? `, ${at.path}` : ""}`;
}
