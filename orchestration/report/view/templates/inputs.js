// The inputs, each under its header, with the places that are evidence; and the references.
function drawInputs(text, row, marks) {
  const headers = Object.keys(text.inputs ?? {}).filter((header) => !isTurn(text, header));
  const pieces = headers.map((header) => drawInput(header, text, marks));
  return headers.length === 0 ? null : h("section.inputs", { "aria-label": "Inputs" }, pieces);
}

// Every piece of evidence is a mark on its input, so that overlapping ones are cut as spans are.
function drawInput(header, text, marks) {
  return h("article.input", {}, h("h3", {}, bdi(header)), drawInputText(header, text, marks));
}

function drawInputText(header, text, marks) {
  const content = text.inputs[header] ?? "";
  const places = marks.flatMap((mark) =>
    (mark.span.evidence ?? []).flatMap((evidence, index) =>
      evidence.input === header ? [{ isPlaced: true, span: evidence, key: evidenceKey(mark, index), mark }] : [],
    ),
  );
  const pieces = cutText(content, places).map((piece) => drawEvidencePiece(content, piece));
  const element = h("div.input-text", { tabindex: "0", role: "group", "aria-label": header }, pieces.length > 0 ? pieces : h("i.empty", {}, "(empty)"));
  return directed(element, content);
}

function drawEvidencePiece(content, { start, end, marks }) {
  const text = visible(content.slice(start, end));
  if (marks.length === 0) return document.createTextNode(text);
  const made = h("mark.place", { tabindex: "-1" });
  made.textContent = text;
  made.dataset.keys = marks.map(({ key }) => key).join(" ");
  return made;
}

function evidenceKey(mark, index) {
  return `${mark.side}/${mark.number}/${index}`;
}

function placesOf(mark, index) {
  const key = evidenceKey(mark, index);
  return [...byId("row").querySelectorAll("mark.place")].filter((place) => place.dataset.keys.split(" ").includes(key));
}

function lightEvidence(pane, mark) {
  const start = mark === null ? "none" : `${mark.side}/${mark.number}/`;
  for (const place of byId("row").querySelectorAll("mark.place")) {
    place.classList.toggle("is-lit", place.dataset.keys.split(" ").some((key) => key.startsWith(start)));
    place.classList.remove("is-gone-to");
  }
}

// Scroll to a place of an input and mark it; Escape leads back to the span.
function openEvidence(pane, mark, index) {
  if (active?.mark !== mark) showMark(pane, mark, { isPinned: true });
  active.isPinned = true;
  active.evidence = index;
  const places = placesOf(mark, index);
  const evidence = mark.span.evidence[index];
  if (places.length === 0) return say(`The input ${evidence.input} is not in this page.`);
  lightEvidence(pane, mark);
  for (const place of places) place.classList.add("is-gone-to");
  places[0].scrollIntoView({ block: "center", behavior: isStill() ? "auto" : "smooth" });
  places[0].focus({ preventScroll: true });
  byId("card").hidden = !isNarrow();
  say(`Evidence in ${evidence.input}: “${clipped(evidence.text, 80)}”. Escape leads back to the span.`);
}

function openNextEvidence() {
  if (active === null) return say("Choose a span first: n leads to the next.");
  const count = (active.mark.span.evidence ?? []).length;
  if (count === 0) return say("This span has no evidence.");
  openEvidence(active.pane, active.mark, (active.evidence + 1) % count);
}

function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function drawReferences(text) {
  const references = text.references ?? [];
  if (references.length === 0) return null;
  const title = references.length === 1 ? "Reference" : `${references.length} references`;
  return fold(title, references.map((reference) => directed(h("div.input-text", {}, reference || "(empty)"), reference)));
}

function drawPeople(text, row) {
  const raters = Object.entries(text.human?.[row.aspect] ?? {});
  if (raters.length === 0) return null;
  const numbers = raters.map(([, score]) => score).filter((score) => typeof score === "number");
  const mean = numbers.reduce((sum, score) => sum + score, 0) / numbers.length;
  const each = raters.map(([rater, score]) => h("li", {}, bdi(rater), " ", h("b", {}, typeof score === "number" ? plainNumber(score) : String(score))));
  const summary = numbers.length > 1 ? `, on average ${inDigits(mean)}` : "";
  return h("section.people", {}, h("h3", {}, `People's scores${summary}`), h("ul.raters", {}, each));
}
