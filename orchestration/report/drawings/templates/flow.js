
const ROW = 26;
const names = ["output", "reference"];
const texts = [data.output.words, data.reference.words];
const height = ROW * Math.max(1, texts[0].length, texts[1].length);
const svg = document.getElementById("links");
const costs = data.flows.map((flow) => flow[3]).filter((cost) => cost !== null);
const [low, high] = costs.reduce((ends, cost) => [Math.min(ends[0], cost), Math.max(ends[1], cost)], [Infinity, -Infinity]);
const most = data.flows.reduce((found, flow) => Math.max(found, flow[2]), 0);
const byToken = texts.map((words) => words.map(() => []));
data.flows.forEach((flow, index) => [0, 1].forEach((side) => byToken[side][flow[side]].push(index)));

function place(side, index) {
  return (height * (index + 0.5)) / texts[side].length;
}

function column(side) {
  const host = document.getElementById(names[side]);
  const words = texts[side].map((text, index) => {
    const word = makeWord(text, index);
    word.dir = "auto";
    word.title = text;
    word.style.top = `${place(side, index)}px`;
    return word;
  });
  // Words are placed by hand, so that the widest of them has to hold the column open.
  const ruler = make("div", "ruler", texts[side].reduce((widest, text) => (text.length > widest.length ? text : widest), "").slice(0, 28));
  host.style.height = `${height}px`;
  host.replaceChildren(ruler, ...words);
  return { host, words };
}

const sides = [column(0), column(1)];
const links = data.flows.map((flow, index) => {
  const link = drawn(svg, "path", { "stroke-width": Math.max(0.75, (flow[2] / most) * 13).toFixed(2) });
  link.dataset.index = index;
  return link;
});

function lay() {
  const width = svg.clientWidth;
  links.forEach((link, index) => {
    const [from, to] = [place(0, data.flows[index][0]), place(1, data.flows[index][1])];
    link.setAttribute("d", `M4 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width - 4} ${to}`);
  });
}

function paint() {
  const ends = [colour("--accent"), colour("--second")];
  links.forEach((link, index) => {
    const cost = data.flows[index][3];
    const known = cost !== null && high > low;
    link.setAttribute("stroke", cost === null ? css(colour("--faint")) : css(mix(...ends, known ? (cost - low) / (high - low) : 0)));
  });
}

function relax() {
  svg.classList.remove("isolated");
  for (const link of links) link.classList.remove("on");
  for (const { words } of sides) clear(words);
  rest();
}

function isolate(indices) {
  relax();
  svg.classList.add("isolated");
  for (const index of indices) {
    links[index].classList.add("on");
    [0, 1].forEach((side) => sides[side].words[data.flows[index][side]].classList.add("partner"));
  }
}

function price(cost) {
  return cost === null ? "" : ` at cost ${inDigits(cost)}`;
}

function mass(value) {
  return Number(value.toPrecision(3)).toString();
}

function showToken(side, index) {
  const found = byToken[side][index];
  isolate(found);
  const word = sides[side].words[index];
  word.classList.remove("partner");
  word.classList.add("active");
  const sum = found.reduce((total, one) => total + data.flows[one][2], 0);
  const parts = found.flatMap((one, number) => [
    number === 0 ? ": " : ", ", quote(texts[1 - side][data.flows[one][1 - side]]),
    ` ${mass(data.flows[one][2])}${price(data.flows[one][3])}`]);
  say(`${names[side]} `, quote(texts[side][index]), ` ${side === 0 ? "sends" : "receives"} ${mass(sum)}`, ...parts);
}

function showLink(index) {
  const [from, to, weight, cost] = data.flows[index];
  isolate([index]);
  say(quote(texts[0][from]), " \u2192 ", quote(texts[1][to]), ` ${mass(weight)}${price(cost)}`);
}

svg.style.width = "100%";
svg.style.height = `${height}px`;
svg.append(...links);
svg.addEventListener("mouseover", (event) => {
  if (event.target.dataset.index !== undefined) showLink(Number(event.target.dataset.index));
});
svg.addEventListener("mouseout", relax);
for (const side of [0, 1]) attend(sides[side].host, sides[side].words, (index) => showToken(side, index), relax);
document.getElementById("low").textContent = costs.length ? `cost ${inDigits(low)}` : "no costs are known";
document.getElementById("high").textContent = costs.length ? inDigits(high) : "";
document.getElementById("costs").hidden = costs.length === 0;
lay();
paint();
new ResizeObserver(lay).observe(svg);
whenColoursChange(() => {
  lay();
  paint();
});
done({ output: texts[0].length, reference: texts[1].length, links: links.length });
