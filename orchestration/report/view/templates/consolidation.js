// Step by step, from the row's own data: seats' scores to the score, seats' spans to the spans.
function drawConsolidation(result, aspect, { name = null } = {}) {
  if (!result || result.seats.length === 0) return null;
  const steps = [seatScores(result, aspect), theScore(result), seatSpans(result), setAside(result), merged(result), beyondLimit(result)];
  const title = name === null ? "From the seats to the result" : ["From the seats of ", bdi(name), " to its result"];
  return fold(title, h("ol.steps-list", {}, steps.filter((step) => step !== null).map((step) => h("li", {}, step))));
}

function isScoredSeat({ score }) {
  return score !== null && score !== undefined;
}

function seatScores({ seats, score }, aspect) {
  const points = seats.map((seat, look) => ({ score: seat.score, look, name: seat.judge })).filter(isScoredSeat);
  const panel = score === null || score === undefined ? [] : [{ score, look: "panel", name: "panel" }];
  const silent = seats.filter((seat) => !isScoredSeat(seat)).map(({ judge, outcome }) => `${judge} none (${outcomeWords(outcome)})`);
  const said = [...points.map((point) => `${point.name} ${inDigits(point.score)}`), ...silent].join(", ");
  return [h("p", {}, `Scores of the seats: ${said}.`), points.length > 0 && drawScale([...points, ...panel], aspect)];
}

function theScore(result) {
  const scored = result.seats.filter(isScoredSeat).length;
  if (!isScoredSeat(result)) return `The panel has no score: ${outcomeWords(result.outcome)}.`;
  if (isScoredSeat(result.unasked ?? {})) return `Not all seats were asked. The cascade estimates the score of the whole panel from these reports: ${inDigits(result.score)}.`;
  if (scored === 1) return `Only one seat has a score, which becomes the panel's: ${inDigits(result.score)}.`;
  return `The aggregation “${result.aggregation}” combines the ${scored} scores into ${inDigits(result.score)}.`;
}

function seatSpans({ seats }) {
  const marking = seats.filter(({ spans }) => spans.length > 0);
  if (marking.length === 0) return "No seat marks a span.";
  return `The seats mark spans: ${marking.map(({ judge, spans }) => `${judge} ${spans.length}`).join(", ")}.`;
}

function setAside({ set_aside: aside }) {
  if (!aside || aside.length === 0) return null;
  const [verb, its] = aside.length === 1 ? ["is", "Its score counts; its"] : ["are", "Their scores count; their"];
  return `${joined(aside)} ${verb} set aside as an outlier. ${its} spans do not.`;
}

function merged(result) {
  const taken = result.seats.filter(({ judge }) => !(result.set_aside ?? []).includes(judge));
  const before = taken.reduce((sum, { spans }) => sum + spans.length, 0);
  if (before === 0) return null;
  const shared = result.spans.filter(({ found_by: seats }) => (seats ?? []).length > 1).length;
  const agreed = result.seats.length < 2 ? "" : shared === 0 ? " None was found by more than one seat." : ` ${shared} of them ${shared === 1 ? "was" : "were"} found by more than one seat.`;
  return `The consolidator “${result.consolidator}” merges these ${before} into ${counted(result.spans.length, "span")}.${agreed}`;
}

function beyondLimit({ left_out: count }) {
  return count > 0 ? `${counted(count, "more span is", "more spans are")} left out because the report is at its limit.` : null;
}
