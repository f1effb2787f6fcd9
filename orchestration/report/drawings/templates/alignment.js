
// More links than these cannot be distinguished: then only that of the word pointed at is drawn.
const MOST = 120;
const names = ["output", "reference"];
const sides = [data.output, data.reference].map((text, side) => showText(document.getElementById(names[side]), text));
const svg = document.getElementById("links");
const board = document.getElementById("linked");
const all = data.pairs.length <= MOST && !sides.some(({ host }) => host.classList.contains("tall"));
const partners = [new Map(), new Map()];
data.pairs.forEach((pair, index) => [0, 1].forEach((side) => {
  partners[side].set(pair[side], index);
  sides[side].words[pair[side]].classList.add("aligned");
}));
const links = new Map();

function curve(index) {
  const frame = board.getBoundingClientRect();
  const [above, below] = [0, 1].map((side) => sides[side].words[data.pairs[index][side]].getBoundingClientRect());
  const [x1, x2] = [above, below].map((box) => box.left + box.width / 2 - frame.left);
  const [y1, y2] = [above.bottom - frame.top, below.top - frame.top];
  return `M${x1} ${y1} C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
}

function link(index) {
  const made = drawn(svg, "path", { d: curve(index) });
  links.set(index, made);
  svg.append(made);
}

function lay() {
  for (const [index, made] of links) made.setAttribute("d", curve(index));
}

function relax() {
  for (const { words } of sides) clear(words);
  for (const [index, made] of links) {
    made.classList.remove("on");
    if (!all) {
      made.remove();
      links.delete(index);
    }
  }
  rest();
}

function show(side, index) {
  relax();
  const word = sides[side].words[index];
  word.classList.add("active");
  if (!partners[side].has(index)) {
    say(`${names[side]} `, quote(word.textContent), ": not aligned");
    return;
  }
  const pair = partners[side].get(index);
  const [left, right] = data.pairs[pair];
  sides[1 - side].words[[left, right][1 - side]].classList.add("partner");
  reveal(sides[1 - side], sides[1 - side].words[[left, right][1 - side]]);
  if (!links.has(pair)) link(pair);
  links.get(pair).classList.add("on");
  say(quote(sides[0].words[left].textContent), ` (word ${left + 1}) \u2194 `,
    quote(sides[1].words[right].textContent), ` (word ${right + 1})`);
}

for (const side of [0, 1]) {
  attend(sides[side].host, sides[side].words, (index) => show(side, index), relax);
  sides[side].host.addEventListener("scroll", lay);
}
if (all) data.pairs.forEach((_, index) => link(index));
new ResizeObserver(lay).observe(board);
addEventListener("beforeprint", lay);
done({ output: sides[0].words.length, reference: sides[1].words.length, pairs: data.pairs.length, links: links.size });
