// Search for a text in ids, outputs, quotes and explanations: by the server, or in the file's parts.
const SEARCH_DELAY = 160;
const haystacks = new Map(); // index of a part -> [number, text in lower case] of its rows
let latestSearch = 0;

function searchSoon() {
  latestSearch += 1;
  const search = latestSearch;
  setTimeout(() => search === latestSearch && trying(() => runSearch(search)), SEARCH_DELAY);
}

async function runSearch(search) {
  const text = state.query.trim();
  if (text === "") return showMatches(search, null);
  if (source.isServed) return showMatches(search, new Set(await source.search(text)));
  return searchFile(search, text.toLowerCase());
}

function showMatches(search, matches) {
  if (search !== latestSearch) return;
  state.matches = matches;
  changeFilters();
}

// Matches are shown as parts are read, a part at a time.
async function searchFile(search, wanted) {
  const matches = new Set();
  byId("list").setAttribute("aria-busy", "true");
  for (let index = 0; index < source.parts && search === latestSearch; index += 1) {
    for (const [number, text] of await haystack(index)) if (text.includes(wanted)) matches.add(number);
    if (index % 8 === 7) showMatches(search, matches);
  }
  byId("list").removeAttribute("aria-busy");
  showMatches(search, matches);
}

async function haystack(index) {
  if (!haystacks.has(index)) {
    const rows = await source.part(index);
    haystacks.set(index, rows.map(({ row, text, texts }) => [row.number, textOf(row, [text, ...texts]).toLowerCase()]));
  }
  return haystacks.get(index);
}

function textOf(row, texts) {
  const spans = row.results.flatMap((result) => result?.spans ?? []);
  const said = spans.flatMap((span) => [span.text, span.explanation]);
  return [row.id, ...texts.map((text) => text?.output ?? ""), ...said].join("\n");
}
