// Where the data come from: blocks of this file, or the server that gave the page.
class SourceError extends Error {
  constructor(title, { status = 0, body = null } = {}) {
    super(title);
    this.status = status;
    this.body = body;
  }
}

const MOST_KEPT_PARTS = 16;
const MOST_KEPT_ROWS = 600;
let source = null;

function openSource() {
  source = byId("head") ? fileSource() : serverSource(readFragment().token);
}

function keep(kept, key, value, most) {
  kept.set(key, value);
  if (kept.size > most) kept.delete(kept.keys().next().value);
}

async function unpacked(name) {
  const block = byId(name);
  if (!block) throw new SourceError(`The file is incomplete: it has no block ${name}.`);
  const binary = atob(JSON.parse(block.textContent));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// A row has one text, or a text for each run if the runs judged different ones.
function withTexts(answer) {
  const textAt = (index) => (index === null ? null : (answer.texts[index] ?? null));
  return answer.rows.map((row) => ({ row, text: textAt(row.text), texts: (row.texts ?? []).map(textAt) }));
}

function fileSource() {
  const head = JSON.parse(byId("head").textContent);
  const kept = new Map();
  const rowsAPart = head.file.rows_a_part;

  async function part(index) {
    if (!kept.has(index)) keep(kept, index, unpacked(head.file.details[index]).then(withTexts), MOST_KEPT_PARTS);
    return kept.get(index);
  }
  async function details(numbers) {
    const found = await Promise.all(numbers.map((number) => part(Math.floor(number / rowsAPart))));
    return numbers.map((number, at) => found[at].find(({ row }) => row.number === number) ?? null);
  }
  async function comparisons() {
    return head.file.comparisons ? unpacked(head.file.comparisons) : [];
  }
  return {
    isServed: false,
    parts: head.file.details.length,
    head: async () => head,
    columns: async () => unpacked(head.file.columns),
    details,
    part,
    asked: null,
    comparison: async (first, second) => chosenComparison(await comparisons(), first, second),
  };
}

// A file holds each pair once; the other way round it says the same with other signs.
function chosenComparison(comparisons, first, second) {
  const held = (one, other) => comparisons.find((each) => each.first === one.key && each.second === other.key);
  const turned = held(second, first);
  return held(first, second) ?? (turned ? { ...turned, rows: turned.rows.map(turnedRow) } : null);
}

function turnedRow(row) {
  const negative = (value) => (value === null ? null : -value);
  return { ...row, first: row.second, second: row.first, difference: negative(row.difference), low: negative(row.high), high: negative(row.low) };
}

function serverSource(token) {
  const kept = new Map();

  async function ask(path, { method = "GET", body, by = token } = {}) {
    const headers = { Authorization: `Bearer ${by}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(`api/${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch {
      throw new SourceError(`The server does not answer. Start \`spanjury view\` again as before, with --port ${location.port}, and open its address in this tab.`);
    }
    const said = await answer.json().catch(() => null);
    if (answer.ok) return said;
    const title = answer.status === 401 ? "The server rejects the token in this address. Open the address that the server printed last in this tab." : said?.title;
    throw new SourceError(title ?? `The server answered ${answer.status}.`, { status: answer.status, body: said });
  }
  async function details(numbers) {
    const missing = numbers.filter((number) => !kept.has(number));
    if (missing.length > 0) {
      const blind = state.blind === null ? "" : `&blind=${encodeURIComponent(state.blind)}`;
      const answer = await ask(`rows?numbers=${missing.join(",")}${blind}`);
      for (const found of withTexts(answer)) keep(kept, found.row.number, found, MOST_KEPT_ROWS);
    }
    return numbers.map((number) => kept.get(number) ?? null);
  }
  return {
    isServed: true,
    ask,
    renew: (given) => (token = given),
    forget: (number) => (number === undefined ? kept.clear() : kept.delete(number)),
    head: () => ask("head"),
    columns: (from) => ask(`columns?from=${from}${state.blind === null ? "" : "&blind=1"}`),
    details,
    search: async (text) => (await ask(`search?text=${encodeURIComponent(text)}${state.blind === null ? "" : "&blind=1"}`)).numbers,
    asked: (number, run) => ask(`asked?number=${number}&run=${run}`),
    comparison: (first, second) =>
      ask(`comparison?first=${encodeURIComponent(first.key)}&second=${encodeURIComponent(second.key)}`),
  };
}

// One line says what failed, and a button tries it again.
function showTrouble(error, retry) {
  const again = () => {
    byId("trouble").hidden = true;
    retry();
  };
  fill("trouble", h("span", {}, error instanceof SourceError ? error.message : `The page failed: ${error.message}`), button("Try again", again));
  byId("trouble").hidden = false;
}

async function trying(work) {
  try {
    await work();
  } catch (error) {
    showTrouble(error, () => trying(work));
  }
}
