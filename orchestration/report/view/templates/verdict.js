// The head of a row: which text and aspect it is, its score, its outcome, and what is to be done.
function drawHeading(shown) {
  const { row } = shown;
  const aspect = aspectOf(shown.number);
  const definition = aspect.definition ? h("p.definition", {}, aspect.definition) : null;
  const origin = [conditionOf(shown.number) && h("b.condition", {}, bdi(conditionOf(shown.number))), row.system && bdi(row.system), row.task && bdi(row.task)].filter((part) => part).flatMap((part, at) => (at > 0 ? [" · ", part] : [part]));
  return h(
    "header.row-head",
    {},
    h("div.row-title", {}, h("h2", { title: row.id }, bdi(originalId(shown.number))), drawSteps()),
    h("p.origin", {}, h("b.aspect", {}, bdi(row.aspect)), origin.length > 0 && [" · ", origin]),
    definition,
  );
}

function placeWords() {
  const place = placeOf(state.chosen);
  return place < 0 ? "not among the filtered" : `${inThousands(place + 1)} of ${inThousands(state.order.length)}`;
}

function drawSteps() {
  return h(
    "span.steps",
    {},
    button("Rows", closeRow, { kind: ".only-narrow", "aria-label": "Back to the rows" }),
    button("↑", () => stepRow(-1), { kind: ".step-button", "aria-label": "Previous row", title: "Previous row (k)" }),
    button("↓", () => stepRow(1), { kind: ".step-button", "aria-label": "Next row", title: "Next row (j)" }),
    h("span.place", {}, placeWords()),
  );
}

on("order", () => {
  const place = document.querySelector(".steps .place");
  if (place) place.textContent = placeWords();
});

// Score, decision and outcome of one run; with two, each under its run's name.
function drawVerdict(result, aspect, { name = null, side = 0 } = {}) {
  const title = name === null ? null : h(`p.side-name.side-${side}`, {}, bdi(name));
  if (!result) return h("div.verdict", {}, title, h("p.failed", {}, "This run does not have the row."));
  if (result.score === null || result.score === undefined) return h("div.verdict", {}, title, drawFailure(result));
  return h("div.verdict", {}, title, h("div.verdict-line", {}, drawScoreOf(result, aspect), drawDecision(result)), drawUnverified(result));
}

function drawScoreOf(result, aspect) {
  const label = labelOf(result.score, aspect);
  return h(
    "div.big-score",
    {},
    h("span.value", {}, inDigits(result.score)),
    h("span.scale", {}, ` of ${plainNumber(aspect.high)}`),
    label && !cannotTell(result) && h("span.label", {}, label),
    drawScale([{ score: result.score, look: "panel", name: "panel" }], aspect),
  );
}

// Labels run from the lowest to the highest score, in equal steps.
function labelOf(score, { labels, low, high }) {
  if (!labels || labels.length < 2) return null;
  const step = ((score - low) / (high - low || 1)) * (labels.length - 1);
  return labels[Math.min(labels.length - 1, Math.max(0, Math.round(step)))];
}

// A line from the lowest score to the highest, with a point for each who gave one.
function drawScale(points, { low, high }) {
  const place = (score) => `${(100 * Math.min(1, Math.max(0, (score - low) / (high - low || 1)))).toFixed(2)}%`;
  const dots = points.map(({ score, look, name }) => {
    const dot = h(`span.dot${look === "panel" ? ".of-panel" : ""}`, { title: `${name}: ${inDigits(score)}` });
    return styled(dot, { left: place(score), "--colour": look === "panel" ? "var(--ink)" : colourOf(look) });
  });
  return h("div.scale-line", { "aria-hidden": "true" }, dots);
}

function drawDecision(result) {
  if (!result.decision) return null;
  const basis = result.decision_basis ?? {};
  const word = DECISION_WORDS[result.decision] ?? result.decision;
  return h(
    "div.decided",
    {},
    h("span.decision", { "data-decision": word }, word),
    h("span.ground", {}, basis.reason || `Decided by the ${basis.ground ?? "score"}.`),
    ratesOf(basis),
  );
}

// Too likely to have an error to vouch for it, and no more.
function cannotTell(result) {
  return DECISION_WORDS[result.decision] === "unsure" && result.decision_basis?.ground === "probability";
}

// How often the decision is wrong: its false alarms or, where it is ok, its misses.
function ratesOf({ false_alarms: alarms, misses, spread, measured_on: counted }) {
  const share = alarms ?? misses;
  if (share === null || share === undefined) return null;
  const isMiss = alarms === null || alarms === undefined;
  const which = isMiss ? "Share of texts with an error that are called ok" : "Share of texts without an error that get this decision or a more severe one";
  const range = spread ? ` (${spread.map(inPercent).join("–")}%, depending on the kind of text)` : "";
  const said = `${which}${counted ? `, counted on ${counted}` : ""}.`;
  return h("details.false-alarms", {}, h("summary", {}, `${isMiss ? "misses" : "false alarms"}: ${inPercent(share)}%${range}`), said);
}

const MOST_UNVERIFIED = 3; // more are folded, so that the text stays in sight

// The sentences that no seat vouches for, and none marks an error in.
function drawUnverified(result) {
  const sentences = result.unverified ?? [];
  if (sentences.length === 0 || result.decision === "ok") return null;
  const items = sentences.map(({ text, probability, reason, words }) =>
    h("li", {}, h("bdi.quote", {}, clipped(text, 240)), h("span.why", {}, words?.length > 0 ? [`${reason.replace(/\.$/, "")}: `, h("bdi.words", {}, words.join(", "))] : reason, h("span.chance", {}, ` P(error) ${inDigits(probability)}`))),
  );
  const title = `Not verified: ${counted(sentences.length, "sentence")}`;
  const list = h("ul", {}, items);
  return h("section.unverified", { "aria-label": "Not verified" }, items.length > MOST_UNVERIFIED ? fold(title, list) : [h("h3", {}, title), list]);
}

function drawFailure(result) {
  const replies = (result.seats ?? []).filter(({ reply }) => reply);
  return h(
    "div.failure",
    {},
    h("p", {}, h("b.failed", {}, `No score: ${outcomeWords(result.outcome)}`)),
    h("p.reason", {}, result.reason || "No reason is given."),
    replies.map(({ judge, reply }) => h("div.raw", {}, h("span.small-title", {}, bdi(judge), " replied"), h("pre", { dir: "auto", tabindex: "0" }, reply))),
  );
}
