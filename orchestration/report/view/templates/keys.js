// The keys of the page. None acts while a person types, or with Ctrl, Alt or Meta.
const KEYS = [
  { key: "j", label: "Next row", act: () => stepRow(1) },
  { key: "k", label: "Previous row", act: () => stepRow(-1) },
  { key: "n", label: "Next span", act: () => stepMark(1) },
  { key: "p", label: "Previous span", act: () => stepMark(-1) },
  { key: "o", label: "Go to the next evidence of the span (also Enter)", act: openNextEvidence },
  { key: "1", shown: "1 – 9", label: "Show or hide the spans of a seat", act: () => toggleByNumber(1) },
  { key: "/", label: "Search", act: goToSearch },
  { key: "f", label: "Show or hide the filters", act: toggleFilters },
  { key: "s", label: "Sort", act: () => byId("sort").focus() },
  { key: "Escape", shown: "Esc", label: "Back: from the editor or from evidence to the span, then to the rows", act: goBack },
  { key: "?", label: "This help", act: openHelp },
];

function allKeys() {
  return [...KEYS, ...parts.flatMap((part) => part.keys ?? [])];
}

function toggleByNumber(digit) {
  const tracks = panes[0]?.tracks ?? [];
  if (!tracks[digit - 1]) return;
  const { key, name } = tracks[digit - 1];
  toggleSeat(key);
  say(`${name}: ${state.hiddenSeats.has(key) ? "hidden" : "shown"}`);
}

function goToSearch() {
  if (isNarrow()) document.body.dataset.place = "list";
  byId("search").focus();
  byId("search").select();
}

function goBack() {
  if (byId("help")?.open || byId("about")?.open) return; // the browser closes its dialogs
  if (isTyping(document.activeElement)) return document.activeElement.blur();
  if (document.body.classList.contains("with-filters")) return hideFilters();
  if (document.activeElement?.matches("mark.place") && active !== null) return visitMark(active.pane, active.mark);
  if (active !== null) return dismissCard();
  closeRow();
}

function handleKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const isDialog = event.target.closest?.("dialog") !== null && event.target.closest !== undefined;
  if (event.key !== "Escape" && (isTyping(event.target) || isDialog)) return;
  if (event.key === "Enter") return followEnter(event);
  if (/^[2-9]$/.test(event.key)) return toggleByNumber(Number(event.key));
  const found = allKeys().find(({ key }) => key === event.key);
  if (!found) return;
  if (event.key !== "Escape") event.preventDefault();
  found.act(event);
}

// Enter on a span goes to its evidence; on a button it is the button's.
function followEnter(event) {
  if (!event.target.closest(".piece, .finding, mark.place") || event.target.closest("button")) return;
  event.preventDefault();
  openNextEvidence();
}

document.addEventListener("keydown", handleKey);
