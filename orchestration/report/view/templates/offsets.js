// Offsets: the data count code points, JavaScript counts halves of surrogate pairs.
const SURROGATE = /[\ud800-\udfff]/;

// Letters that are written from right to left.
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// Each paragraph has its own direction only where there is more than one: a long line costs seconds.
function directed(element, text) {
  element.dir = "auto";
  element.classList.toggle("is-turned", TURNED.test(text));
  return element;
}

// Return what turns code points of `text` into places of the string; converted once a text.
function offsetsOf(text, points) {
  if (!SURROGATE.test(text)) return (point) => Math.min(point, text.length);
  const wanted = [...new Set(points)].sort((a, b) => a - b);
  const places = new Map();
  let [point, unit] = [0, 0];
  for (const next of wanted) {
    while (point < next && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    places.set(next, unit);
  }
  return (asked) => places.get(asked);
}

function pointAt(text, unit) {
  let point = 0;
  for (let at = 0; at < unit; at += text.codePointAt(at) > 0xffff ? 2 : 1) point += 1;
  return point;
}

// Between the turns of an agent stands what others said, which is no part of its text.
function ownLength(range) {
  const part = range.cloneContents();
  for (const given of part.querySelectorAll(".given")) given.remove();
  const isWithinGiven = range.startContainer.parentElement?.closest(".given") && range.endContainer.parentElement?.closest(".given");
  return isWithinGiven && range.startContainer === range.endContainer ? 0 : part.textContent.length;
}

// What a person has selected in the element of a text: { start, end, text } in code points, or null.
function selectedIn(element, text) {
  const selection = getSelection();
  if (selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const start = ownLength(before);
  const end = start + ownLength(range);
  if (start === end) return null;
  return { start: pointAt(text, start), end: pointAt(text, end), text: text.slice(start, end) };
}
