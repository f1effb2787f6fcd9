
const references = document.getElementById("references");
const size = document.getElementById("size");
const against = document.getElementById("against");
const texts = [showText(document.getElementById("output"), data.output)];
const headings = [];

data.references.forEach((text, number) => {
  const host = make("div", "text");
  const name = data.references.length > 1 ? `Reference ${number + 1}` : "Reference";
  headings.push(make("h2", "", name));
  references.append(headings[number], host);
  texts.push(showText(host, text));
  const choice = make("option", "", name.toLowerCase());
  choice.value = number + 1;
  against.append(choice);
});

let n = 1;
let cover = [];

function pieces(side, start) {
  const { words, gaps } = texts[side];
  return [...words.slice(start, start + n), ...gaps.slice(start + 1, start + n)];
}

// An n-gram counts as found in any reference or in the chosen one; `places` has the output first.
function found(places) {
  const chosen = Number(against.value);
  return chosen === 0 || places[chosen].length > 0;
}

function sidesShown() {
  const chosen = Number(against.value);
  return texts.map((_, side) => side).filter((side) => side === 0 || chosen === 0 || side === chosen);
}

function shown() {
  return data.steps[n - 1].places.filter(found);
}

function mark() {
  for (const { words, gaps } of texts) for (const piece of [...words, ...gaps]) piece.classList.remove("hit", "partner", "active");
  cover = texts.map(({ words }) => words.map(() => []));
  const entries = shown();
  entries.forEach((places, entry) => {
    for (const side of sidesShown()) {
      for (const start of places[side]) {
        for (const piece of pieces(side, start)) piece.classList.add("hit");
        for (let at = start; at < start + n; at += 1) cover[side][at].push(entry);
      }
    }
  });
  count(entries);
}

function count(entries) {
  const step = data.steps[n - 1];
  const chosen = Number(against.value);
  const clipped = chosen === 0 ? step.clipped
    : entries.reduce((sum, places) => sum + Math.min(places[0].length, places[chosen].length), 0);
  const share = step.all ? ` (${((100 * clipped) / step.all).toFixed(1)}%)` : "";
  document.getElementById("chosen").value = n;
  document.getElementById("count").textContent =
    `${clipped} of ${step.all} n-grams of the output are found${share}, each counted no more often than a reference has it; ${entries.length} different ones are marked.`;
  Object.assign(document.body.dataset, { n, shared: entries.length, clipped });
}

function relax() {
  for (const { words, gaps } of texts) for (const piece of [...words, ...gaps]) piece.classList.remove("partner", "active");
  rest();
}

function show(side, index) {
  relax();
  const entries = shown();
  texts[side].words[index].classList.add("active");
  const hits = [...new Set(cover[side][index])];
  if (hits.length === 0) {
    say(quote(texts[side].words[index].textContent), `: in no shared n-gram of ${n}`);
    return;
  }
  for (const hit of hits) {
    for (const other of sidesShown()) {
      for (const start of entries[hit][other]) for (const piece of pieces(other, start)) piece.classList.add("partner");
    }
  }
  const parts = hits.flatMap((hit, number) => {
    const places = entries[hit];
    const words = texts[0].words.slice(places[0][0], places[0][0] + n).map((word) => word.textContent);
    const times = sidesShown().slice(1).map((other) => `${places[other].length}\u00d7`).join(", ");
    return [number === 0 ? "" : "; ", quote(words.join(" ")), ` ${places[0].length}\u00d7 in the output, ${times} in the reference${data.references.length > 1 && against.value === "0" ? "s" : ""}`];
  });
  say(...parts);
}

function choose() {
  n = Number(size.value);
  headings.forEach((heading, number) => {
    const hidden = against.value !== "0" && Number(against.value) !== number + 1;
    heading.hidden = hidden;
    texts[number + 1].host.hidden = hidden;
  });
  rest();
  mark();
}

size.max = data.steps.length;
size.addEventListener("input", choose);
against.addEventListener("change", choose);
texts.forEach(({ host, words }, side) => attend(host, words, (index) => show(side, index), relax));
choose();
done({ output: texts[0].words.length, references: data.references.length });
