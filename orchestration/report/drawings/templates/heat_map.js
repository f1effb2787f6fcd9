
const sides = [data.output, data.reference].map((text, side) =>
  showText(document.getElementById(["output", "reference"][side]), text));
const names = ["output", "reference"];
const [low, high] = data.range;
const rows = data.map.length;
const columns = rows ? data.mapColumns : 0;
const canvas = document.getElementById("map");
const board = document.getElementById("board");
const cell = Math.max(3, Math.min(36, Math.floor(1000 / Math.max(1, rows, columns))));
const labelled = cell >= 12;
const left = labelled ? 120 : 0;
const top_ = labelled ? 100 : 0;

function strength(value) {
  return value === null ? 0 : high > low ? (value - low) / (high - low) : 1;
}

function between(side, index, other) {
  const [row, column] = side === 0 ? [index, other] : [other, index];
  return row < rows && column < columns ? data.map[row][column] : null;
}

function tint(side, strengths) {
  sides[side].words.forEach((word, index) => {
    word.classList.add("tinted");
    word.style.setProperty("--strength", strengths(index).toFixed(3));
  });
}

function relax() {
  for (const side of [0, 1]) {
    clear(sides[side].words);
    tint(side, (index) => strength(data.partners[side][index].length ? data.partners[side][index][0][1] : null));
  }
  cross(-1, -1);
  rest();
}

function show(side, index) {
  const partners = data.partners[side][index];
  const known = new Map(partners);
  for (const { words } of sides) clear(words);
  tint(1 - side, (other) => strength(known.has(other) ? known.get(other) : between(side, index, other)));
  sides[side].words[index].classList.add("active");
  if (partners.length === 0) {
    say(`${names[side]} `, quote(sides[side].words[index].textContent), ": no partner");
    return;
  }
  sides[1 - side].words[partners[0][0]].classList.add("partner");
  reveal(sides[1 - side], sides[1 - side].words[partners[0][0]]);
  const [row, column] = side === 0 ? [index, partners[0][0]] : [partners[0][0], index];
  cross(row, column);
  const parts = partners.flatMap(([other, value], place) => [
    place === 0 ? " \u2192 " : ", ", quote(sides[1 - side].words[other].textContent), ` ${inDigits(value)}`]);
  say(`${names[side]} `, quote(sides[side].words[index].textContent), ...parts);
}

function paint() {
  const sharp = window.devicePixelRatio || 1;
  const [width, height] = [left + columns * cell, top_ + rows * cell];
  canvas.width = Math.max(1, width * sharp);
  canvas.height = Math.max(1, height * sharp);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  const shades = makeShades();
  const ink = css(colour("--ink"));
  pen.scale(sharp, sharp);
  data.map.forEach((values, row) => values.forEach((value, column) => paintCell(pen, { value, row, column, shades, ink })));
  if (labelled) paintLabels(pen, ink);
}

function makeShades() {
  const ends = [colour("--low"), colour("--high")];
  return Array.from({ length: 201 }, (_, step) => {
    const filled = mix(...ends, step / 200);
    const bright = filled[0] * 0.3 + filled[1] * 0.59 + filled[2] * 0.11 > 125;
    return { fill: css(filled), ink: bright ? "#111111" : "#ffffff" };
  });
}

function paintCell(pen, { value, row, column, shades, ink }) {
  const [x, y] = [left + column * cell, top_ + row * cell];
  const edge = cell >= 8 ? 1 : 0;
  if (value === null) {
    pen.strokeStyle = ink;
    pen.beginPath();
    pen.moveTo(x, y + cell);
    pen.lineTo(x + cell, y);
    pen.stroke();
    return;
  }
  const shade = shades[Math.round(strength(value) * 200)];
  pen.fillStyle = shade.fill;
  pen.fillRect(x, y, cell - edge, cell - edge);
  pen.fillStyle = shade.ink;
  const best = data.partners[0][row].length && data.partners[0][row][0][0] === column;
  if (cell >= 30) {
    pen.font = `${best ? "bold " : ""}11px sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(value.toFixed(2), x + cell / 2, y + cell / 2);
  }
  if (best && cell >= 6) {
    pen.beginPath();
    pen.arc(x + cell / 2, y + cell - (cell >= 30 ? 5 : cell / 2), Math.min(2.5, cell / 4), 0, 7);
    pen.fill();
  }
}

function paintLabels(pen, ink) {
  const short = (text) => (text.length > 14 ? `${text.slice(0, 13)}\u2026` : text);
  pen.fillStyle = ink;
  pen.font = `${Math.min(13, cell - 1)}px sans-serif`;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (let row = 0; row < rows; row += 1) {
    pen.fillText(short(sides[0].words[row].textContent), left - 6, top_ + (row + 0.5) * cell, left - 8);
  }
  pen.textAlign = "left";
  for (let column = 0; column < columns; column += 1) {
    pen.save();
    pen.translate(left + (column + 0.5) * cell, top_ - 6);
    pen.rotate(-Math.PI / 3);
    pen.fillText(short(sides[1].words[column].textContent), 0, 0, top_ + 4);
    pen.restore();
  }
}

const frame = make("div", "cross");
frame.hidden = true;
board.append(frame);

function cross(row, column) {
  frame.hidden = !(row >= 0 && row < rows && column >= 0 && column < columns);
  Object.assign(frame.style, {
    left: `${left + column * cell - 2}px`, top: `${top_ + row * cell - 2}px`,
    width: `${cell + 3}px`, height: `${cell + 3}px` });
}

const at = { row: 0, column: 0 };

function showCell() {
  const value = data.map[at.row][at.column];
  for (const { words } of sides) clear(words);
  sides[0].words[at.row].classList.add("active");
  sides[1].words[at.column].classList.add("partner");
  reveal(sides[0], sides[0].words[at.row]);
  reveal(sides[1], sides[1].words[at.column]);
  cross(at.row, at.column);
  say(quote(sides[0].words[at.row].textContent), " and ",
    quote(sides[1].words[at.column].textContent), ` ${inDigits(value)}`);
}

function attendMap() {
  canvas.addEventListener("mousemove", (event) => {
    const row = Math.floor((event.offsetY - top_) / cell);
    const column = Math.floor((event.offsetX - left) / cell);
    if (row < 0 || column < 0 || row >= rows || column >= columns) return;
    Object.assign(at, { row, column });
    showCell();
  });
  canvas.addEventListener("mouseleave", relax);
  canvas.addEventListener("focus", showCell);
  canvas.addEventListener("blur", relax);
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!(event.key in steps)) return;
    event.preventDefault();
    at.row = Math.min(rows - 1, Math.max(0, at.row + steps[event.key][0]));
    at.column = Math.min(columns - 1, Math.max(0, at.column + steps[event.key][1]));
    showCell();
  });
}

document.getElementById("low").textContent = inDigits(low);
document.getElementById("high").textContent = inDigits(high);
for (const side of [0, 1]) attend(sides[side].host, sides[side].words, (index) => show(side, index), relax);
if (rows && columns) attendMap();
else canvas.tabIndex = -1;
relax();
paint();
whenColoursChange(paint);
done({ output: sides[0].words.length, reference: sides[1].words.length, cells: rows * columns });
