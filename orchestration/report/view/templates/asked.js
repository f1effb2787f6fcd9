// The prompts and replies behind a row, fetched from the memory when their fold is opened.
function drawAsked(number, run, name) {
  if (!state.head.has_replies || source.asked === null || state.blind !== null) return null;
  const room = h("div.asked", { "aria-live": "polite" }, "Reading …");
  const made = fold(name === null ? "Prompts and replies" : ["Prompts and replies of ", bdi(name)], room);
  made.addEventListener("toggle", () => made.open && room.dataset.read === undefined && readAsked(room, number, run));
  return made;
}

async function readAsked(room, number, run) {
  room.dataset.read = "begun";
  try {
    const asked = await source.asked(number, run);
    const note = asked.note ? h("p.note", {}, asked.note) : null;
    const seats = asked.seats.map(drawAskedSeat);
    room.replaceChildren(...[note, ...seats].filter((part) => part !== null));
    if (room.childNodes.length === 0) room.append("The memory holds no prompt for this row; its judges ask no model.");
  } catch (error) {
    delete room.dataset.read;
    room.replaceChildren(h("p.failed", {}, error.message), button("Try again", () => readAsked(room, number, run)));
  }
}

function drawAskedSeat({ judge, calls }) {
  const drawn = calls.map(({ messages, reply }, index) => {
    const title = calls.length > 1 ? `Call ${index + 1}` : null;
    const prompt = messages.map(({ role, content }) => drawMessage(role, typeof content === "string" ? content : JSON.stringify(content, null, 2)));
    return h("div.call", {}, title && h("h5", {}, title), prompt, drawMessage("reply", reply ?? ""));
  });
  return h("section.asked-seat", {}, h("h4", {}, bdi(judge)), drawn);
}

function drawMessage(role, content) {
  return h(`div.message${role === "reply" ? ".is-reply" : ""}`, {}, h("span.small-title", {}, role), h("pre", { dir: "auto", tabindex: "0" }, content || "(empty)"));
}
