// The seats of a row as cards: what each said, and what it cost.
function drawSeats(result, shown, { side = 0, name = null } = {}) {
  if (!result || result.seats.length === 0) return null;
  const title = name === null ? "Seats" : ["Seats of ", bdi(name)];
  const seats = result.seats.map((seat, index) => drawSeat(seat, result, { side, index, aspect: aspectOf(shown.number) }));
  return h("section.seats", { "aria-label": "Seats" }, h("h3", {}, title), h("div.seat-cards", {}, seats), drawUnasked(result));
}

// The seats that a cascade did not ask, and why: they are neither failures nor missing.
function drawUnasked({ unasked }) {
  if (!unasked) return null;
  return h("p.unasked", {}, "Not asked: ", unasked.seats.map((name, index) => [index > 0 && ", ", bdi(name)]), `. ${unasked.reason}`);
}

function drawSeat(seat, result, { side, index, aspect }) {
  const isScored = seat.score !== null && seat.score !== undefined;
  const isAside = (result.set_aside ?? []).includes(seat.judge);
  return h(
    "article.seat-card",
    {},
    h("h4", {}, lineSample(index), bdi(seat.judge), isAside && h("span.aside", {}, "set aside")),
    isScored
      ? h("p.seat-score", {}, h("b", {}, inDigits(seat.score)), h("span.scale", {}, ` of ${plainNumber(aspect.high)}`), " ", chance(seat))
      : h("p.seat-score", {}, h("span.failed", {}, outcomeWords(seat.outcome))),
    seat.reason && h("p.reason", {}, seat.reason),
    seat.rationale && h("p.rationale", { dir: "auto" }, seat.rationale),
    isScoredSeat(result) && seat.reply && fold("The reply, word for word", h("pre", { dir: "auto", tabindex: "0" }, seat.reply)),
    h("p.seat-foot", {}, ownSpans(seat, side), h("span.usage", {}, usageOf(seat))),
  );
}

function chance({ error_probability: probability }) {
  if (probability === null || probability === undefined) return null;
  return h("span.chance", {}, `error with probability ${inDigits(probability)}`);
}

function ownSpans(seat, side) {
  const count = seat.spans.length;
  if (count === 0) return h("span", {}, "no span");
  const isOnly = state.onlySeat?.name === seat.judge && state.onlySeat.side === side;
  return button(isOnly ? "Show the panel's spans" : `Show only its ${counted(count, "span")}`, () => showOnly(isOnly ? null : { side, name: seat.judge }), {
    "aria-pressed": String(isOnly),
    "data-only": `${side} ${seat.judge}`,
  });
}

function showOnly(seat) {
  state.onlySeat = seat;
  const focused = document.activeElement?.dataset?.only;
  redrawRow();
  if (focused) document.querySelector(`[data-only="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function usageOf({ usage, seconds }) {
  const said = [];
  if (usage?.calls > 0) said.push(counted(usage.calls, "call"), `${inThousands(usage.prompt)} + ${inThousands(usage.completion)} tokens`);
  if (usage?.cached > 0) said.push(`${inThousands(usage.cached)} cached`);
  if (usage?.reasoning > 0) said.push(`${inThousands(usage.reasoning)} reasoning`);
  said.push(inSeconds(seconds));
  return said.filter((part) => part !== "").join(" · ");
}
