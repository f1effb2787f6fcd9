// The dialogs: keys, and what is known of the runs.
function openHelp() {
  const keys = allKeys().map(({ key, shown, label }) => [h("dt", {}, h("kbd", {}, shown ?? key)), h("dd", {}, label)]);
  openDialog("help", "Keys", [
    h("dl.keys", {}, keys),
    h("h3", {}, "How to read a text"),
    h("p", {}, "The fill of a span shows its severity. Each line below a span is a seat that marked it; the legend above the text names the seats. Where spans overlap, the card shows the shortest one and names the others."),
    isExam() && h("p", {}, "A planted error is caught if the panel marks it, and marks nothing there in the original. Rows on an aspect that the damage does not harm are neither caught nor missed."),
    h("p", {}, "A mean covers the rows that have a score; their number is beside it."),
  ]);
}

function openAbout() {
  const runs = state.head.runs.map((run) => [
    h("h3", {}, bdi(run.name)),
    h(
      "dl.facts-list",
      {},
      fact("Judges", joined(run.judges ?? [])),
      fact("Begun", run.begun),
      fact("State", run.is_done ? "ended" : "not finished: rows may be missing"),
      fact("Panel", run.panel),
    ),
  ]);
  openDialog("about", "About", runs);
}

function fact(name, value) {
  return value ? [h("dt", {}, name), h("dd", {}, bdi(value))] : [];
}

function openDialog(id, title, content) {
  byId(id)?.remove();
  const close = () => dialog.close();
  const dialog = h("dialog", { id, "aria-labelledby": `${id}-title` }, h("div.dialog-head", {}, h("h2", { id: `${id}-title` }, title), button("Close", close)), content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  document.body.append(dialog);
  dialog.showModal();
}

function drawTools() {
  fill("tools", drawPairing(), fromParts("tools"), button("About", openAbout, { kind: ".quiet" }), button("Keys ?", openHelp, { kind: ".quiet", "aria-keyshortcuts": "?" }));
}
