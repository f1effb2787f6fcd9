// The address's fragment: the token of the server first, then what is filtered, sorted and chosen.
function readFragment() {
  const pieces = location.hash.slice(1).split("&").filter((piece) => piece !== "");
  const isToken = (piece) => !piece.includes("=");
  return {
    token: pieces.find(isToken) ?? "",
    values: new URLSearchParams(pieces.filter((piece) => !isToken(piece)).join("&")),
  };
}

function restoreState() {
  const { values } = readFragment();
  for (const key of new Set(values.keys())) {
    if (key.startsWith("f.")) state.filters.set(key.slice(2), new Set(values.getAll(key)));
  }
  state.query = values.get("text") ?? "";
  state.sort = values.get("sort") ?? DEFAULT_SORT;
  state.isReversed = values.has("reversed");
  state.isRaw = values.has("raw");
  state.run = values.get("run") === "1" ? 1 : 0;
  const systems = values.getAll("system");
  state.pair = systems.length === 2 ? systems : null;
  isCleanWanted = !values.has("alone");
  const row = values.get("row");
  state.chosen = row !== null && /^\d+$/.test(row) ? Number(row) : -1;
}

function stateAsValues() {
  const values = new URLSearchParams();
  for (const [key, chosen] of state.filters) for (const value of chosen) values.append(`f.${key}`, value);
  if (state.query !== "") values.set("text", state.query);
  if (state.sort !== DEFAULT_SORT) values.set("sort", state.sort);
  if (state.isReversed) values.set("reversed", "1");
  if (state.isRaw) values.set("raw", "1");
  if (state.run === 1) values.set("run", "1");
  if (state.pair !== CLEAN_PAIR) for (const system of state.pair ?? []) values.append("system", system);
  if (!isCleanWanted) values.set("alone", "1");
  if (state.chosen >= 0) values.set("row", state.chosen);
  return values.toString();
}

function saveState() {
  const { token } = readFragment();
  const fragment = [token, stateAsValues()].filter((piece) => piece !== "").join("&");
  if (`#${fragment}` !== location.hash) history.replaceState(history.state, "", `#${fragment}`);
}
