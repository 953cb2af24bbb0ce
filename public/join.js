// The page's first step: come in by a link, read a space as it is written, and write in it. What others wrote
// is only ever set as text.
import { openSocket } from "/socket.js";

const $ = (id) => document.getElementById(id);
let spaces = new Map();
const names = new Map();
let here;
let seen = 0;
let socket;
let draft = {};
/** One's own participant id. */
let self;

// What went wrong is said where it can be seen, whatever it was.
addEventListener("unhandledrejection", (event) => problem(event.reason?.message ?? "Something went wrong."));
addEventListener("error", (event) => problem(event.message));

function problem(text) {
  $("problem").textContent = text;
}

async function api(method, path, body) {
  const answer = await fetch(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  }).catch(() => undefined);
  if (!answer) throw new Error("The server cannot be reached. Try again in a moment.");
  const text = await answer.text();
  const value = text === "" ? undefined : JSON.parse(text);
  if (answer.ok) return value;
  throw Object.assign(new Error(value?.message ?? `The server answered ${answer.status}.`), {
    status: answer.status,
  });
}

/** An identifier: ten characters of time, sixteen of chance (ID-1). */
function newId(prefix) {
  const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let time = "";
  for (let rest = Date.now(), i = 0; i < 10; i++, rest = Math.floor(rest / 32))
    time = alphabet[rest % 32] + time;
  const chance = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${time}${Array.from(chance, (byte) => alphabet[byte & 31]).join("")}`;
}

async function start() {
  const [, kind, secret] = /^#(invite|signin)=(.+)$/.exec(location.hash) ?? [];
  const me = await api("GET", "/v1/me").catch((error) => {
    if (error.status !== 401) throw error;
  });
  if (me && !kind) return enter(me);
  $("join").hidden = kind !== "invite";
  $("sign-in").hidden = kind !== "signin";
  $("stay").hidden = !me;
  if (me) $("stay").textContent = `Stay signed in as ${me.participant.name} in ${me.workspace_name}`;
  const welcomes = { invite: "You are invited.", signin: "This link signs you in on this device." };
  $("welcome").textContent =
    welcomes[kind] ?? "You are not signed in. Ask for an invite link, and open it here.";
  if (kind === "invite") $("name").focus();

  // One key for this link: a second press is the same coming in, not another (AUTH-8).
  const idempotency_key = newId("evt");
  const redeem = async (path, body) => {
    problem("");
    await api("POST", path, { secret, idempotency_key, ...body });
    await enter(await api("GET", "/v1/me"));
  };
  $("join").onsubmit = (event) => {
    event.preventDefault();
    return redeem("/v1/invites/redeem", { display_name: $("name").value });
  };
  $("sign-in").onclick = () => redeem("/v1/sign-in-links/redeem", {});
}

async function enter(me) {
  // The secret is spent: it has no business in the history.
  history.replaceState(null, "", "/");
  problem("");
  $("outside").hidden = true;
  $("inside").hidden = $("sign-out").hidden = false;
  self = me.participant.participant_id;
  $("who").textContent = `${me.participant.name} in ${me.workspace_name}`;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (me.participant.time_zone !== timeZone) void api("PUT", "/v1/me", { time_zone: timeZone });
  // From here on the socket tells; what stood before is read.
  seen = (await api("GET", "/v1/events?after=0&limit=1")).head_seq;
  await readSpaces();
  socket = openSocket({ hello: () => ({ id: newId("evt"), after_seq: seen }), onFrame, onState });
}

$("sign-out").onclick = async () => {
  socket?.close();
  await api("POST", "/v1/sign-out");
  location.reload();
};

function onState(state) {
  if (state === "lost") problem("Connection lost; trying again.");
  else if (state === "open") problem("");
  else problem("You were signed out. Open an invite or a sign-in link to come back.");
}

async function readSpaces() {
  const { items } = await api("GET", "/v1/spaces?limit=200");
  spaces = new Map(items.filter((space) => space.joined).map((space) => [space.space_id, space]));
  showSpaces();
  if (!spaces.has(here)) await choose(spaces.keys().next().value);
}

function showSpaces() {
  const items = Array.from(spaces.values(), (space) => {
    const button = document.createElement("button");
    const unread = space.space_id === here || !space.unread ? "" : ` (${space.unread} new)`;
    button.type = "button";
    button.textContent = `${space.title}${unread}`;
    button.setAttribute("aria-current", String(space.space_id === here));
    button.onclick = () => choose(space.space_id, true);
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  const focused = [...$("spaces").children].findIndex((item) => item.contains(document.activeElement));
  $("spaces").replaceChildren(...items);
  items[focused]?.firstChild.focus();
}

async function choose(id, byHand = false) {
  here = id;
  const space = spaces.get(id);
  showSpaces();
  $("title").textContent = space?.title ?? "You are in no space yet. Somebody has to add you to one.";
  $("say").hidden = !space;
  $("doing").textContent = "";
  $("log").replaceChildren();
  if (!space) return;
  const { context } = await api("GET", `/v1/spaces/${id}/context?lines=100`);
  for (const { from } of context.lines) if (from) names.set(from.id, from.name);
  if (here !== id) return;
  // What the socket brought meanwhile stands there already, or is in the lines.
  const lines = context.lines.map(lineOf).filter((line) => !find(line.dataset.seq));
  $("log").prepend(...lines);
  const { items } = await api("GET", "/v1/approvals?state=pending");
  for (const { space_id, request, ...ask } of items.toReversed())
    if (here === id && space_id === id)
      askedFor({ ...request, ...ask, seq: ask.asked_seq, ts: ask.asked_at });
  toEnd();
  markRead();
  if (byHand) $("text").focus();
}

/** An ask: what an agent wants to do, with a yes and a no for those who may answer. */
function askedFor({ seq, ts: at, approval_id, agent_id, question, action, effect, approvers }) {
  if ($("log").querySelector(`[data-approval="${CSS.escape(approval_id)}"]`)) return;
  const words = `${names.get(agent_id) ?? "An agent"} asks: ${question ?? action.kind} ${effect ?? ""}`;
  const line = entry({ seq, at, words });
  line.dataset.approval = approval_id;
  if (approvers?.includes(self))
    for (const decision of ["allow", "deny"]) line.append(" ", answerButton(approval_id, decision));
  add(line);
}

function answerButton(approval_id, decision) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = decision === "allow" ? "Allow" : "Refuse";
  const id = newId("evt");
  button.onclick = () =>
    api("POST", "/v1/events", {
      v: 1,
      type: "approval.decide",
      id,
      idempotency_key: id,
      approval_id,
      decision,
    });
  return button;
}

function settled(approval_id, words) {
  const line = $("log").querySelector(`[data-approval="${CSS.escape(approval_id)}"]`);
  if (!line) return;
  for (const button of line.querySelectorAll("button")) button.remove();
  line.append(` (${words})`);
}

const find = (seq) => $("log").querySelector(`[data-seq="${CSS.escape(seq)}"]`);

function lineOf({ seq, at, kind, from, message_id, text, files, title, name }) {
  const said = kind === "said";
  const words = said ? (text ?? "") : `${title ?? name ?? from.name}: ${kind}`;
  return entry({ seq, at, message_id, who: said ? from.name : undefined, words, files });
}

function entry({ seq, at, message_id, who, words, files = [] }) {
  const item = document.createElement("p");
  item.dataset.seq = seq;
  if (message_id) item.dataset.message = message_id;
  const time = document.createElement("time");
  time.dateTime = at;
  time.textContent = new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  item.append(time, " ");
  if (who) {
    const name = document.createElement("strong");
    name.textContent = who;
    item.append(name, " ");
  }
  const text = document.createElement("span");
  text.textContent = words;
  text.className = who ? "words" : "quiet";
  item.append(text);
  if (files.length > 0) item.append(`\n[${files.join(", ")}]`);
  return item;
}

function add(line) {
  const log = $("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  log.append(line);
  if (atEnd) toEnd();
  markRead();
}

function toEnd() {
  $("log").scrollTop = $("log").scrollHeight;
}

function markRead() {
  const last = $("log").lastElementChild;
  if (last && !document.hidden) socket?.send({ type: "read", space_id: here, seq: Number(last.dataset.seq) });
}
document.addEventListener("visibilitychange", markRead);

function onFrame(frame) {
  // A reset means that more was missed than is sent again: what stands is read anew.
  if (frame.type === "welcome" && frame.resume === "reset") void readSpaces().then(() => choose(here));
  if (frame.type === "caught_up") seen = Math.max(seen, frame.seq);
  if (frame.seq === undefined || !frame.actor || frame.seq <= seen) return;
  seen = frame.seq;
  if (frame.agent_id && frame.name) names.set(frame.agent_id, frame.name);
  if (/^(space|member)\./.test(frame.type)) void readSpaces();
  if (frame.space_id === here) show(frame);
  else if (frame.type === "message.posted" && spaces.has(frame.space_id)) {
    spaces.get(frame.space_id).unread += 1;
    showSpaces();
  }
}

function show(frame) {
  const { type, seq, ts: at, message_id, text } = frame;
  const known = message_id && $("log").querySelector(`[data-message="${CSS.escape(message_id)}"] .words`);
  if (type === "message.posted" && !find(seq)) {
    names.set(frame.from.participant_id, frame.from.display_name);
    const files = frame.attachments?.map((file) => file.filename);
    add(entry({ seq, at, message_id, who: frame.from.display_name, words: text, files }));
  } else if (type === "message.edited" && known) known.textContent = `${text} (edited)`;
  else if (type === "message.deleted" && known) known.textContent = "(deleted)";
  else if (type === "member.joined") add(entry({ seq, at, words: `${frame.name}: joined` }));
  else if (type === "notice.posted") add(entry({ seq, at, words: text }));
  else if (type === "approval.requested") askedFor(frame);
  else if (type === "approval.decided")
    settled(frame.approval_id, frame.decision === "allow" ? "allowed" : "refused");
  else if (type === "approval.expired" || type === "approval.cancelled")
    settled(frame.approval_id, type.slice("approval.".length));
  else if (type === "run.stepped")
    $("doing").textContent = `${names.get(frame.actor.id) ?? "An agent"}: ${text} …`;
  else if (type === "run.ended") $("doing").textContent = "";
}

$("text").onkeydown = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("say").requestSubmit();
};

$("say").onsubmit = async (event) => {
  event.preventDefault();
  const text = $("text").value;
  if (text.trim() === "" || !here) return;
  // The same words tried again have the same key: they may have arrived (ENV-4).
  if (draft.text !== text || draft.space_id !== here) draft = { text, space_id: here, id: newId("evt") };
  problem("");
  await api("POST", "/v1/events", { v: 1, type: "message.post", idempotency_key: draft.id, ...draft });
  draft = {};
  if ($("text").value === text) $("text").value = "";
};

await start();
