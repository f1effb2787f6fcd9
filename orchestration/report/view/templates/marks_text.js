// All aspects of the text that is marked: a score and an end for each, and one end for all.

// The rows about the text of a row, in the order of the file.
function rowsOfText(number) {
  const rows = [];
  for (let each = 0; each < table.rows; each += 1) {
    if (table.id[each] === table.id[number] && table.system[each] === table.system[number]) rows.push(each);
  }
  return rows;
}

// Marks are saved with the first of two runs, and with the text that was judged.
function isMarkable({ row, text }) {
  return text !== null && !(isCompared() && row.results[0] === null && row.results[1] !== null);
}

// The rows of the text that can be marked, with their marks loaded; null until that is so.
function markableRows(number) {
  if (marking.texts.has(number)) return marking.texts.get(number);
  marking.texts.set(number, null);
  trying(async () => {
    const { who } = marking;
    const rows = await readMarkable(number).catch((error) => {
      marking.texts.delete(number); // to be tried again when it is shown next
      throw error;
    });
    if (who !== marking.who) return;
    marking.texts.set(number, rows);
    if (state.shown?.number === number) drawPanel();
  });
  return null;
}

async function readMarkable(number) {
  const rows = rowsOfText(number);
  const details = await source.details(rows);
  const markable = rows.filter((_, at) => details[at] !== null && isMarkable(details[at]));
  await Promise.all(markable.map(loadMark));
  return markable;
}

// Nothing where the text was judged on one aspect only.
function drawTextAspects(number) {
  const rows = markableRows(number) ?? [];
  if (rows.length < 2) return null;
  const rest = rows.filter((row) => !marking.marks.get(row).is_done);
  const label = rest.length === 0 ? `All ${rows.length} aspects are done` : `Done with all ${rows.length} aspects (D)`;
  return h(
    "fieldset.text-aspects",
    {},
    h("legend", {}, "All aspects of this text"),
    h("ul", {}, rows.map((row) => drawTextAspect(row, number))),
    button(label, finishText, { disabled: rest.length === 0, "data-mark": "text done", "aria-keyshortcuts": "Shift+D" }),
    rest.length > 0 && h("p.note", {}, "An aspect that is done without a span says that you found no error."),
  );
}

function drawTextAspect(row, shown) {
  const mark = marking.marks.get(row);
  const name = aspectLabel(table.aspect[row]);
  const label = row === shown ? h("b", {}, bdi(name)) : button(bdi(name), () => choose(row), { kind: ".quiet", title: "Go to this aspect", "data-mark": `text aspect ${row}` });
  const change = (edit) => {
    changeMark(row, edit);
    drawPanel();
  };
  const done = h("input", {
    type: "checkbox",
    checked: mark.is_done,
    "data-mark": `text done ${row}`,
    onchange: (event) => (event.target.checked ? finishRows([row]) : change((changed) => (changed.is_done = false))),
  });
  return h(
    "li",
    {},
    h("span.name", {}, label),
    drawScoreField(row, mark, (score) => change((changed) => (changed.score = score))),
    h("span.note", {}, counted(mark.spans.length, "span")),
    h("label.check", {}, done, "done"),
  );
}

function drawScoreField(row, mark, change) {
  const aspect = aspectOf(row);
  const label = `Score for ${aspect.name}`;
  const scores = wholeScores(aspect);
  if (scores.length === 0 || (mark.score !== null && !scores.includes(mark.score))) {
    return h("input", { type: "number", min: aspect.low, max: aspect.high, step: "any", value: mark.score ?? "", "aria-label": label, "data-mark": `text score ${row}`, onchange: (event) => change(scoreWithin(aspect, event.target.value)) });
  }
  const options = [h("option", { value: "", selected: mark.score === null }, "no score"), ...scores.map((score) => h("option", { value: score, selected: mark.score === score }, labelOf(score, aspect) ? `${score} ${labelOf(score, aspect)}` : score))];
  return h("select", { "aria-label": label, "data-mark": `text score ${row}`, onchange: (event) => change(scoreWithin(aspect, event.target.value)) }, options);
}

// Finished rows show what judges said, also to those who marked without seeing it.
function finishRows(rows) {
  for (const row of rows) changeMark(row, (changed) => (changed.is_done = true));
  drawPanel();
  if (!marking.isBlind) return;
  trying(async () => {
    await allSaved();
    rows.forEach((row) => source.forget(row));
    if (rows.includes(state.shown?.number)) await showRow();
  });
}

function finishText() {
  if (markShown() === null) return say("Your marks of this row are still loading");
  const rows = markableRows(state.shown.number);
  if (rows === null) return say("Your marks of this text are still loading");
  const rest = rows.filter((row) => !marking.marks.get(row).is_done);
  marking.editing = null;
  finishRows(rest);
  say(`Done: ${counted(rest.length, "aspect")}`);
  if (!marking.isBlind || rest.length === 0) goToNext();
}
