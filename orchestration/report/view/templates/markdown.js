// Markdown, drawn over the raw characters: each of them stays in its place in the element, and what only
// marks the form is hidden. So offsets and selections are those of the raw text. HTML stays text, images
// are not loaded, and a link leads to the web or to a mail only.
const MOST_FORMATTED = 200_000; // characters; a longer text is drawn as it is
const LEAST_WEIGHT = 2; // from which a text is taken for Markdown: one list item or emphasis may be chance
const MOST_NESTED = 6;
const [LONGEST_TABLE_LINE, LONGEST_LINK] = [2000, 2000]; // characters: what is longer is text
const BLOCKS = {
  fence: /^ {0,3}(`{3,}|~{3,})[^`]*$/,
  heading: /^( {0,3}(#{1,6})[ \t]+)\S/,
  rule: /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/,
  quote: /^ {0,3}> ?/,
  item: /^([ \t]*)([-*+]|\d{1,3}[.)])([ \t]+)(?=\S)/,
  separator: /^[ \t|:-]*-[ \t|:-]*$/,
};
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const [LETTER, SPACE] = [/[\p{L}\p{N}]/u, /\s/];
const SAFE_LINK = /^(?:https?:\/\/|mailto:)[^\s]+$/i;

// A layout: { nodes, isMarkdown }. A node is a leaf { start, end, isHidden } or { kind, attributes, nodes };
// its leaves are all characters of the text, in order, in places of the string.
function layoutOf(text) {
  if (text.length > MOST_FORMATTED) return { nodes: [], isMarkdown: false };
  const reader = { text, weight: 0, lines: linesOf(text), at: 0 };
  const nodes = [];
  while (reader.at < reader.lines.length) nodes.push(readBlock(reader));
  return { nodes, isMarkdown: reader.weight >= LEAST_WEIGHT };
}

function linesOf(text) {
  const lines = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const next = newline < 0 ? text.length : newline + 1;
    const end = newline < 0 ? next : text[newline - 1] === "\r" ? newline - 1 : newline;
    lines.push({ start, end, next, content: text.slice(start, end) });
    start = next;
  }
  return lines;
}

function leaf(start, end) {
  return { start, end, isHidden: false };
}

function hidden(start, end) {
  return { start, end, isHidden: true };
}

function weighed(reader, weight, node) {
  reader.weight += weight;
  return node;
}

function readBlock(reader) {
  const line = reader.lines[reader.at];
  const { content, start, end, next } = line;
  if (content.trim() === "") return take(reader, hidden(start, next));
  if (BLOCKS.fence.test(content)) return weighed(reader, 2, readFence(reader));
  const heading = BLOCKS.heading.exec(content);
  if (heading) {
    const from = start + heading[1].length;
    const attributes = { role: "heading", "aria-level": Math.min(6, heading[2].length + 2), "data-level": heading[2].length };
    return weighed(reader, 2, take(reader, { kind: "div.block.heading", attributes, nodes: [hidden(start, from), ...inline(reader, from, end), hidden(end, next)] }));
  }
  if (BLOCKS.rule.test(content)) return weighed(reader, 1, take(reader, { kind: "div.block.rule", nodes: [hidden(start, next)] }));
  if (BLOCKS.quote.test(content)) return weighed(reader, 1, readQuote(reader));
  if (BLOCKS.item.test(content)) return weighed(reader, 1, readItem(reader));
  if (isTable(reader)) return weighed(reader, 2, readTable(reader));
  return readParagraph(reader);
}

function take(reader, node) {
  reader.at += 1;
  return node;
}

function readFence(reader) {
  const { lines } = reader;
  const opening = lines[reader.at];
  const [, mark] = BLOCKS.fence.exec(opening.content);
  let last = reader.at + 1;
  const isClosing = ({ content }) => content.trim().startsWith(mark) && content.trim().replaceAll(mark[0], "") === "";
  while (last < lines.length && !isClosing(lines[last])) last += 1;
  const content = lines.slice(reader.at + 1, last);
  reader.at = Math.min(lines.length, last + 1);
  const end = content.at(-1)?.end ?? opening.next;
  return { kind: "div.block.code", nodes: [hidden(opening.start, opening.next), leaf(opening.next, end), hidden(end, lines[reader.at - 1].next)] };
}

function readQuote(reader) {
  const nodes = [];
  for (let line = reader.lines[reader.at]; line && BLOCKS.quote.test(line.content); line = reader.lines[reader.at]) {
    const from = line.start + BLOCKS.quote.exec(line.content)[0].length;
    nodes.push(hidden(line.start, from), ...inline(reader, from, line.end), leaf(line.end, line.next));
    reader.at += 1;
  }
  return { kind: "div.block.quote", nodes: withoutLastBreak(nodes) };
}

function withoutLastBreak(nodes) {
  const last = nodes.at(-1);
  return [...nodes.slice(0, -1), hidden(last.start, last.end)];
}

// An item with the lines that are indented below it. A number stays, a bullet is drawn by CSS.
function readItem(reader) {
  const line = reader.lines[reader.at];
  const [all, indent, marker, space] = BLOCKS.item.exec(line.content);
  const from = line.start + all.length;
  const isBullet = /^[-*+]$/.test(marker);
  const signs = isBullet ? [hidden(line.start, from)] : [hidden(line.start, line.start + indent.length), leaf(line.start + indent.length, from - space.length + 1), hidden(from - space.length + 1, from)];
  const nodes = [...signs, ...inline(reader, from, line.end), leaf(line.end, line.next)];
  reader.at += 1;
  for (let more = reader.lines[reader.at]; more && isContinued(more.content, indent); more = reader.lines[reader.at]) {
    const begin = more.start + more.content.search(/\S/);
    nodes.push(hidden(more.start, begin), ...inline(reader, begin, more.end), leaf(more.end, more.next));
    reader.at += 1;
  }
  const depth = Math.min(MOST_NESTED, Math.floor(indent.replaceAll("\t", "    ").length / 2));
  return { kind: `div.block.item${isBullet ? ".bullet" : ""}`, attributes: { "data-depth": depth }, nodes: withoutLastBreak(nodes) };
}

function isContinued(content, indent) {
  const [own] = /^[ \t]*/.exec(content);
  return content.trim() !== "" && own.length > indent.length && !BLOCKS.item.test(content) && !BLOCKS.fence.test(content);
}

function isTable({ lines, at }) {
  const [head, rule] = [lines[at], lines[at + 1]];
  if (!rule || rule.content.length > LONGEST_TABLE_LINE || head.content.length > LONGEST_TABLE_LINE) return false;
  return head.content.includes("|") && rule.content.includes("|") && BLOCKS.separator.test(rule.content);
}

function readTable(reader) {
  const rows = [tableRow(reader, reader.lines[reader.at], "th")];
  const rule = reader.lines[reader.at + 1];
  rows.push({ kind: "tr.syntax", nodes: [{ kind: "td", nodes: [hidden(rule.start, rule.next)] }] });
  reader.at += 2;
  for (let line = reader.lines[reader.at]; line?.content.includes("|"); line = reader.lines[reader.at]) {
    rows.push(tableRow(reader, line, "td"));
    reader.at += 1;
  }
  return { kind: "div.block.wide-table", nodes: [{ kind: "table.drawn-table", nodes: rows }] };
}

function tableRow(reader, { start, end, next, content }, kind) {
  const first = /^[ \t]*\|?/.exec(content)[0].length;
  const bars = [...content.matchAll(/(?<!\\)\|/g)].map(({ index }) => index).filter((index) => index >= first);
  const last = bars.length > 0 && content.slice(bars.at(-1) + 1).trim() === "" ? bars.pop() : content.length;
  const edges = [...bars.map((bar) => start + bar), start + last];
  let from = start + first;
  const cells = edges.map((edge, index) => {
    const opening = index === 0 ? [hidden(start, from)] : [hidden(from - 1, from)];
    const closing = index === edges.length - 1 ? [hidden(edge, next)] : [];
    const nodes = [...opening, ...inline(reader, from, edge), ...closing];
    from = edge + 1;
    return { kind, nodes };
  });
  return { kind: "tr", nodes: cells };
}

function readParagraph(reader) {
  const first = reader.lines[reader.at];
  let last = first;
  reader.at += 1;
  while (reader.at < reader.lines.length && !beginsBlock(reader)) {
    last = reader.lines[reader.at];
    reader.at += 1;
  }
  return { kind: "div.block", nodes: [...inline(reader, first.start, last.end), hidden(last.end, last.next)] };
}

function beginsBlock(reader) {
  const { content } = reader.lines[reader.at];
  const { fence, heading, rule, quote, item } = BLOCKS;
  return content.trim() === "" || [fence, heading, rule, quote, item].some((block) => block.test(content)) || isTable(reader);
}

// The nodes of a stretch of text. `without` holds the signs that have no partner further on, so that each
// of these is searched for once.
function inline(reader, start, end, nested = 0) {
  const { text } = reader;
  const nodes = [];
  const without = new Map();
  let [at, plain] = [start, start];
  const put = (node, from, to) => {
    if (from > plain) nodes.push(leaf(plain, from));
    nodes.push(...[node].flat());
    [at, plain] = [to, to];
  };
  while (at < end) {
    const character = text[at];
    if (character === "\\" && at + 1 < end && PUNCTUATION.test(text[at + 1])) {
      put(hidden(at, at + 1), at, at + 1);
      at += 1;
      continue;
    }
    const made = nested < MOST_NESTED && "`*_~[!<".includes(character) ? inlineAt(reader, { at, end, start, nested, without }) : null;
    if (made === null) at += character === "`" || character === "*" || character === "_" ? runAt(text, at, end) : 1;
    else put(made.node, at, made.end);
  }
  if (plain < end) nodes.push(leaf(plain, end));
  return nodes;
}

function runAt(text, at, end) {
  let to = at;
  while (to < end && text[to] === text[at]) to += 1;
  return to - at;
}

function inlineAt(reader, place) {
  const character = reader.text[place.at];
  if (character === "`") return codeAt(reader, place);
  if (character === "[" || character === "!") return linkAt(reader, place);
  if (character === "<") return addressAt(reader, place);
  return emphasisAt(reader, place);
}

function codeAt(reader, { at, end, without }) {
  const { text } = reader;
  const count = runAt(text, at, end);
  const sign = "`".repeat(count);
  if (without.get(sign) !== undefined) return null;
  for (let close = text.indexOf(sign, at + count); close >= 0 && close < end; ) {
    const run = runAt(text, close, end);
    const content = text.slice(at + count, close);
    if (run === count) {
      if (content.trim() !== content || content.includes("\n") || content.includes("''")) return null;
      return { end: close + count, node: weighed(reader, 1, { kind: "code", nodes: [hidden(at, at + count), leaf(at + count, close), hidden(close, close + count)] }) };
    }
    close = text.indexOf(sign, close + run);
  }
  without.set(sign, at);
  return null;
}

const EMPHASES = { "**": ["strong", 2], __: ["strong", 2], "~~": ["s", 2], "*": ["em", 1], _: ["em", 1] };

function emphasisAt(reader, place) {
  const { text } = reader;
  const { at, end, start, nested, without } = place;
  const sign = [text.slice(at, at + 2), text[at]].find((each) => each in EMPHASES);
  if (sign === undefined || without.has(sign)) return null;
  const from = at + sign.length;
  const isWord = (unit) => unit >= start && unit < end && LETTER.test(text[unit]);
  const isLoose = sign === "**" || sign === "~~"; // these may stand within a word
  if (from >= end || SPACE.test(text[from]) || (!isLoose && isWord(at - 1))) return null;
  for (let close = text.indexOf(sign, from + 1); close >= 0 && close + sign.length <= end; close = text.indexOf(sign, close + 1)) {
    const to = close + sign.length;
    const isRun = sign.length === 1 && (text[close - 1] === sign || text[to] === sign);
    if (isRun || SPACE.test(text[close - 1]) || (!isLoose && isWord(to))) continue;
    const [kind, weight] = EMPHASES[sign];
    return { end: to, node: weighed(reader, weight, { kind, nodes: [hidden(at, from), ...inline(reader, from, close, nested + 1), hidden(close, to)] }) };
  }
  without.set(sign, at);
  return null;
}

// [label](address "title") and ![label](address): the address stands in the title of the element.
function linkAt(reader, { at, end, nested }) {
  const { text } = reader;
  const isImage = text[at] === "!";
  const from = at + (isImage ? 2 : 1);
  if (isImage && text[at + 1] !== "[") return null;
  const near = text.slice(from, Math.min(end, from + LONGEST_LINK));
  const match = /^((?:[^[\]\\\n]|\\.|\[[^[\]\n]*\])*)\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+["'(][^\n]*?["')])?\s*\)/.exec(near);
  if (!match) return null;
  const [all, label, address] = match;
  const to = from + label.length;
  const nodes = [hidden(at, from), ...inline(reader, from, to, nested + 1), hidden(to, from + all.length)];
  if (isImage) return { end: from + all.length, node: weighed(reader, 2, { kind: "span.image", attributes: { title: `An image, which is not loaded: ${address}` }, nodes }) };
  return { end: from + all.length, node: weighed(reader, 2, { ...linked(address), nodes }) };
}

function addressAt(reader, { at, end }) {
  const match = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(reader.text.slice(at, Math.min(end, at + LONGEST_LINK)));
  if (!match) return null;
  const to = at + match[0].length;
  return { end: to, node: weighed(reader, 2, { ...linked(match[1]), nodes: [hidden(at, at + 1), leaf(at + 1, to - 1), hidden(to - 1, to)] }) };
}

// Another tab, which learns nothing of this one.
function linked(address) {
  if (!SAFE_LINK.test(address)) return { kind: "span.dead-link", attributes: { title: `A link that is not followed: ${address}` } };
  return { kind: "a.link", attributes: { href: address, title: address, target: "_blank", rel: "noopener noreferrer" } };
}

// Draw a layout from the pieces of the text; `draw` makes an element of a piece. Hidden characters are
// bare text, unless a span has no others: then they are shown, or the span could not be seen.
function drawLayout(nodes, pieces, draw) {
  const seen = new Set();
  eachPart(nodes, pieces, (node, part) => {
    if (!node.isHidden) for (const mark of part.marks) seen.add(mark);
  });
  const parts = new Map();
  eachPart(nodes, pieces, (node, part) => {
    const isShown = !node.isHidden || part.marks.some((mark) => !seen.has(mark));
    const made = draw(isShown ? part : { ...part, marks: [] });
    parts.set(node, [...(parts.get(node) ?? []), node.isHidden ? h(`span.syntax${isShown ? ".is-shown" : ""}`, {}, made) : made]);
  });
  const drawn = (node) => (node.nodes ? h(node.kind, node.attributes ?? {}, node.nodes.map(drawn)) : (parts.get(node) ?? []));
  return nodes.map(drawn).flat();
}

// Call `part` with each leaf and each piece, or part of one, that lies in it.
function eachPart(nodes, pieces, part) {
  let index = 0;
  const walk = (node) => {
    if (node.nodes) return node.nodes.forEach(walk);
    if (node.start === node.end) return;
    while (index < pieces.length && pieces[index].end <= node.start) index += 1;
    for (let at = index; at < pieces.length && pieces[at].start < node.end; at += 1) {
      const { start, end, marks } = pieces[at];
      part(node, { start: Math.max(start, node.start), end: Math.min(end, node.end), marks });
    }
  };
  nodes.forEach(walk);
}
