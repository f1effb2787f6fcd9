// Elements of HTML. A text from the data is put in as text, and what would hide or turn it is shown.
const HIDDEN = new RegExp(
  "[\\ud800-\\udfff\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029" +
    "\\u202a-\\u202e\\u2066-\\u2069\\ufff9-\\ufffb\\ufffe\\uffff]|\\r(?!\\n)",
  "gu",
);

// As long as `text` in code points, so that offsets hold for both.
function visible(text) {
  return text.replace(HIDDEN, "\ufffd");
}

// `h("p.note.wide", { title: "…" }, "text", child)`; children that are null, false or "" are left out.
function h(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    made.append(typeof child === "object" ? child : visible(String(child)));
  }
  return made;
}

function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (name === "value") element.value = value;
  else element.setAttribute(name, value === true ? "" : visible(String(value)));
}

// A name or text from the data within a line of ours keeps its own direction.
function bdi(text) {
  return h("bdi", {}, text);
}

function button(label, onclick, attributes = {}) {
  return h(`button${attributes.kind ?? ""}`, { type: "button", onclick, ...attributes, kind: null }, label);
}

function byId(id) {
  return document.getElementById(id);
}

function fill(id, ...children) {
  byId(id).replaceChildren(...children.flat(Infinity).filter((child) => child));
}

function clear(element) {
  element.replaceChildren();
}

// Inline styles are set one by one: the page's policy refuses them as attributes.
function styled(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

function fold(title, ...children) {
  return h("details", {}, h("summary", {}, title), ...children);
}

function isNarrow() {
  return matchMedia("(max-width: 900px)").matches;
}

function say(text) {
  byId("said").textContent = visible(text);
}

function isTyping(target) {
  return target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") ?? false;
}
