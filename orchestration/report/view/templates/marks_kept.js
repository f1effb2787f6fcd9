// A person's marks: who marks, what is marked, and how it reaches the server's disk.
const MARKING = "spanjury.marking"; // key of the browser's memory of this tab
const RETRIES = [1000, 2000, 5000, 10000, 30000]; // milliseconds until a failed save is tried again
const TYPING = 400; // milliseconds without a key until what is typed is saved
const marking = {
  who: null,
  isBlind: false,
  isRandom: false,
  marked: new Map(), // number -> { is_done, spans, score } of every row the person has marked
  marks: new Map(), // number -> the mark as it is on the page
  unsaved: new Map(), // number -> { edits, isSaving, failures, trouble, timer }
  conflicts: new Map(), // number -> the mark that someone else saved meanwhile
  loading: new Map(), // number -> promise
  texts: new Map(), // number -> the rows about its text that can be marked; null while they load
  editing: null, // { number, index }: the span whose editor is open
};

function canMark() {
  return state.head !== null && state.head.marking !== null && state.head.marking !== undefined;
}

function isMarking() {
  return marking.who !== null;
}

function markPath(number) {
  return `mark?annotator=${encodeURIComponent(marking.who)}&number=${number}`;
}

function remember() {
  const { who, isBlind, isRandom } = marking;
  try {
    if (who === null) sessionStorage.removeItem(MARKING);
    else sessionStorage.setItem(MARKING, JSON.stringify({ who, isBlind, isRandom }));
  } catch {
    // A browser without a memory: the person is asked for the name again.
  }
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(MARKING) ?? "null");
  } catch {
    return null;
  }
}

async function readMarked() {
  const { marked } = await source.ask(`marks?annotator=${encodeURIComponent(marking.who)}`);
  marking.marked = new Map(Object.entries(marked).map(([number, about]) => [Number(number), about]));
  drawProgress();
  drawListSoon();
}

function loadMark(number) {
  if (marking.marks.has(number)) return Promise.resolve(marking.marks.get(number));
  if (!marking.loading.has(number)) {
    const who = marking.who;
    const loading = source
      .ask(markPath(number))
      .then((mark) => {
        if (who === marking.who && !marking.marks.has(number)) marking.marks.set(number, mark);
        return mark;
      })
      .finally(() => marking.loading.delete(number));
    marking.loading.set(number, loading);
  }
  return marking.loading.get(number);
}

function markShown() {
  return state.shown === null ? null : (marking.marks.get(state.shown.number) ?? null);
}

// Every change of a mark goes through here: it is drawn, noted as unsaved, and sent.
function changeMark(number, change, { isTyping: waits = false } = {}) {
  const mark = structuredClone(marking.marks.get(number));
  change(mark);
  marking.marks.set(number, mark);
  marking.marked.set(number, { is_done: mark.is_done, spans: mark.spans.length, score: mark.score });
  const unsaved = marking.unsaved.get(number) ?? { edits: 0, isSaving: false, failures: 0, trouble: null, timer: 0 };
  unsaved.edits += 1;
  marking.unsaved.set(number, unsaved);
  saveSoon(number, waits ? TYPING : 0);
  drawProgress();
  drawListSoon();
}

function saveSoon(number, wait) {
  const unsaved = marking.unsaved.get(number);
  if (!unsaved || marking.conflicts.has(number)) return;
  clearTimeout(unsaved.timer);
  if (wait === 0) void save(number);
  else unsaved.timer = setTimeout(() => save(number), wait);
}

async function save(number) {
  const unsaved = marking.unsaved.get(number);
  if (!unsaved || unsaved.isSaving) return;
  clearTimeout(unsaved.timer);
  unsaved.isSaving = true;
  const sent = unsaved.edits;
  drawSaved();
  try {
    const { revision } = await source.ask(markPath(number), { method: "PUT", body: marking.marks.get(number) });
    marking.marks.get(number).revision = revision;
    Object.assign(unsaved, { isSaving: false, failures: 0, trouble: null });
    if (unsaved.edits === sent) marking.unsaved.delete(number);
    else void save(number);
  } catch (error) {
    unsaved.isSaving = false;
    keepUnsaved(number, unsaved, error);
  }
  drawSaved();
  settled();
}

// What was not saved stays on the page, is said loudly, and is sent again where that may help.
function keepUnsaved(number, unsaved, error) {
  if (error.status === 409 && error.body?.mark) {
    marking.conflicts.set(number, error.body.mark);
    if (state.shown?.number === number) drawPanel();
    return;
  }
  unsaved.trouble = error.message;
  const isRefused = error.status >= 400 && error.status < 500;
  if (isRefused) return;
  const wait = RETRIES[Math.min(unsaved.failures, RETRIES.length - 1)];
  unsaved.failures += 1;
  unsaved.timer = setTimeout(() => save(number), wait);
}

// Of two versions of a mark the person chooses one; the other is gone.
function keepVersion(number, isMine) {
  const theirs = marking.conflicts.get(number);
  marking.conflicts.delete(number);
  if (isMine) {
    marking.marks.get(number).revision = theirs.revision;
    saveSoon(number, 0);
  } else {
    marking.marks.set(number, theirs);
    marking.unsaved.delete(number);
    marking.marked.set(number, { is_done: theirs.is_done, spans: theirs.spans.length, score: theirs.score });
  }
  marking.editing = null;
  refreshMarks();
  drawSaved();
}

let waiting = []; // what goes on once nothing is unsaved

function settled() {
  if (marking.unsaved.size > 0) return;
  for (const goOn of waiting.splice(0)) goOn();
}

function allSaved() {
  sendUnsaved();
  return marking.unsaved.size === 0 ? Promise.resolve() : new Promise((goOn) => waiting.push(goOn));
}

addEventListener("beforeunload", (event) => {
  if (marking.unsaved.size > 0) event.preventDefault();
});
addEventListener("online", sendUnsaved);

function sendUnsaved() {
  for (const number of marking.unsaved.keys()) saveSoon(number, 0);
}

// A server that was started again gets what is not saved, if it shows the same rows.
async function sendToServer(by) {
  const numbers = [...marking.unsaved.keys()];
  if (numbers.length === 0) return false;
  const { runs } = await source.ask("head", { by });
  const { rows } = await source.ask(`rows?numbers=${numbers.join(",")}&blind=${encodeURIComponent(marking.who)}`, { by });
  const isSame = rows.every((row) => row.id === table.id[row.number] && row.aspect === aspectOf(row.number).name && row.system === systemOf(row.number));
  if (!isSame || rows.length < numbers.length || runs.some(({ name, begun }, at) => name !== state.head.runs[at]?.name || begun !== state.head.runs[at].begun)) {
    throw new SourceError("The server at this address shows other rows. Start `spanjury view` as before, and open its address in this tab.");
  }
  source.renew(by);
  sendUnsaved();
  return true;
}
