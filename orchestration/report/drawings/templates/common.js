
"use strict";

// Texts are put in as text, never as HTML. What is counted goes into `document.body.dataset`.
const data = JSON.parse(document.getElementById("data").textContent);
const readout = document.getElementById("readout");
const resting = readout.textContent;

function make(kind, className, text = "") {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = text;
  return made;
}

function drawn(svg, kind, attributes) {
  const made = document.createElementNS(svg.namespaceURI, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function quote(text) {
  return make("bdi", "quoted", text === "" ? "(empty)" : text);
}

function say(...parts) {
  readout.replaceChildren(...parts);
}

function inDigits(value) {
  return value === null ? "no value" : value.toFixed(3);
}

function makeWord(text, index) {
  const word = make("span", "word", text === "" ? "\u2205" : text);
  word.dataset.index = index;
  word.tabIndex = -1;
  word.setAttribute("role", "button");
  return word;
}

function showText(host, text) {
  const gaps = text.gaps.map((gap) => make("span", "gap", gap));
  const words = text.words.map(makeWord);
  const pieces = gaps.flatMap((gap, index) => (index < words.length ? [gap, words[index]] : [gap]));
  if (words.length === 0 && text.gaps.join("").trim() === "") pieces.push(make("i", "", "(empty text)"));
  host.dir = "auto";
  host.classList.toggle("tall", words.length > 400);
  host.replaceChildren(...pieces);
  return { host, words, gaps };
}

function target(key, at, count) {
  const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: count - 1 };
  return key in steps ? Math.min(count - 1, Math.max(0, steps[key])) : -1;
}

// One word of a text can be reached by Tab, the others from there by the arrow keys.
function attend(host, words, show, rest) {
  if (words.length === 0) return;
  let current = 0;
  words[0].tabIndex = 0;
  const indexOf = (event) => {
    const word = event.target.closest(".word");
    return word && host.contains(word) ? Number(word.dataset.index) : -1;
  };
  host.addEventListener("mouseover", (event) => {
    if (indexOf(event) >= 0) show(indexOf(event));
  });
  host.addEventListener("mouseleave", () => (host.contains(document.activeElement) ? show(current) : rest()));
  host.addEventListener("focusin", (event) => {
    if (indexOf(event) < 0) return;
    words[current].tabIndex = -1;
    current = indexOf(event);
    words[current].tabIndex = 0;
    show(current);
  });
  host.addEventListener("focusout", rest);
  host.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.activeElement.blur();
    const to = target(event.key, current, words.length);
    if (to < 0) return;
    event.preventDefault();
    words[to].focus();
  });
}

// A long text is scrolled in its box; the page itself stays where it is.
function reveal({ host }, word) {
  if (host.scrollHeight > host.clientHeight) host.scrollTop = word.offsetTop - host.clientHeight / 2;
}

function clear(words) {
  for (const word of words) word.classList.remove("active", "partner");
}

function rest() {
  say(resting);
}

// Print is always on white, and what is painted has to be painted again.
function whenColoursChange(paint) {
  const root = document.documentElement;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  addEventListener("beforeprint", () => {
    root.dataset.printed = "true";
    paint();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.printed;
    paint();
  });
}

function colour(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mix(from, to, share) {
  return from.map((part, at) => Math.round(part + (to[at] - part) * share));
}

function css(parts) {
  return `rgb(${parts.join(",")})`;
}

function done(counts) {
  Object.assign(document.body.dataset, counts, { ready: "true" });
}

document.getElementById("drawing").hidden = false;
