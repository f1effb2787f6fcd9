// Numbers and states in words.
const OUTCOME_WORDS = {
  scored: "scored",
  abstained: "abstained",
  unparseable: "reply unreadable",
  truncated: "reply cut off",
  refused: "refused",
  timed_out: "timed out",
  backend_failed: "model failed",
};
const DECISION_WORDS = { ok: "ok", unsure: "unsure", faulty: "faulty", doubtful: "unsure" }; // rows written before say "doubtful"
const LOCATED_WORDS = {
  exact: "quoted exactly",
  normalised: "quoted with different spaces, case or punctuation",
  fuzzy: "quoted inexactly, placed where the text matches best",
  unlocated: "not located in the text",
};

function inThousands(count) {
  return count.toLocaleString("en");
}

function inDigits(value, digits = 2) {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits);
}

function signed(value, digits = 2) {
  const written = value.toFixed(digits);
  if (Number(written) === 0) return (0).toFixed(digits);
  return value > 0 ? `+${written}` : `−${written.slice(1)}`;
}

// Rounded as in the terminal, where a half goes to the even number.
function inPercent(share) {
  const percent = 100 * share;
  const rounded = Math.round(percent);
  return rounded - percent === 0.5 ? 2 * Math.round(percent / 2) : rounded;
}

function counted(count, noun, plural = `${noun}s`) {
  return `${inThousands(count)} ${count === 1 ? noun : plural}`;
}

function outcomeWords(outcome) {
  return OUTCOME_WORDS[outcome] ?? outcome;
}

function clipped(text, most) {
  const points = [...text.slice(0, 2 * most + 2)];
  return points.length > most ? `${points.slice(0, most).join("")} …` : text;
}

function joined(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function inSeconds(seconds) {
  if (!seconds) return ""; // an exam keeps no times
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`;
}
