// The dialog of marking: a name, blind and random, and how far annotators agree.
function openMarking() {
  const names = state.head.marking.annotators;
  const name = h("input", { type: "text", id: "annotator", list: "annotators", value: marking.who ?? "", maxlength: 64, required: true, autofocus: true, autocomplete: "off" });
  const blind = h("input", { type: "checkbox", id: "blind", checked: marking.isBlind });
  const random = h("input", { type: "checkbox", id: "random", checked: marking.isRandom });
  const begin = (event) => {
    event.preventDefault();
    const who = name.value.trim().normalize("NFC");
    if (who === "") return;
    byId("marking-dialog").close();
    trying(() => changeMarking({ who, isBlind: blind.checked, isRandom: random.checked }));
  };
  const stop = () => {
    byId("marking-dialog").close();
    trying(() => changeMarking({ who: null, isBlind: false, isRandom: false }));
  };
  openDialog("marking-dialog", "Your own marks", [
    h(
      "form.marking-form",
      { onsubmit: begin },
      h("label.field", {}, "Your name (your marks are saved under it)", name),
      h("datalist", { id: "annotators" }, names.map((one) => h("option", { value: one }))),
      h("label.check", {}, blind, h("span", {}, "Hide the judges' results for a row until you finish it")),
      h("label.check", {}, random, h("span", {}, "Show the rows in a random order")),
      h("div.editor-foot", {}, h("button", { type: "submit" }, isMarking() ? "Go on" : "Begin"), isMarking() && button("Stop marking", stop, { kind: ".quiet" })),
    ),
    names.length > 1 && h("section.agreement", {}, button("Agreement of annotators", (event) => showAgreement(event.currentTarget.parentElement))),
  ]);
}

// The server renders the guideline, with every text in it escaped; it opens at the aspect of the row.
function openGuideline() {
  if (!canMark()) return;
  trying(async () => {
    const { html } = await source.ask("guideline");
    const parsed = new DOMParser().parseFromString(html, "text/html");
    openDialog("guideline", "Guideline", [h("div.guideline", {}, [...parsed.body.childNodes])]);
    const { name } = aspectOf(state.chosen);
    const heading = [...byId("guideline").querySelectorAll("h2")].find(({ textContent }) => textContent.toLowerCase() === name.replaceAll("-", " ").toLowerCase());
    heading?.scrollIntoView({ block: "start" });
  });
}

function showAgreement(holder) {
  holder.replaceChildren(h("p.note", {}, "Comparing …"));
  trying(async () => {
    const { aspects, note } = await source.ask("agreement");
    holder.replaceChildren(h("h3", {}, "Agreement of annotators"), ...aspects.flatMap(drawAgreement), note ? h("p.note", {}, note) : "");
  });
}

function drawAgreement({ aspect, scores, spans }) {
  const shownEstimate = ({ value, low, high }) => (value === null ? "–" : `${inDigits(value)}${low === null ? "" : ` [${inDigits(low)}, ${inDigits(high)}]`}`);
  const pairs = spans.map(({ first, second, texts, figures }) => h("tr", {}, h("th", {}, bdi(first), " and ", bdi(second)), h("td", {}, texts), h("td", {}, shownEstimate(figures["characters.micro"]))));
  return [
    h("h4", {}, bdi(aspect)),
    h("p", {}, `Scores: Krippendorff's alpha ${shownEstimate(scores.alpha)}, ${counted(scores.texts, "text")}.`),
    pairs.length > 0 && h("div.wide-table", {}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "spans of"), h("th", {}, "texts"), h("th", {}, "F1 of characters"))), h("tbody", {}, pairs))),
  ].filter((part) => part);
}
