// Everything works without this file; with it, answers change as one types, and files can be dropped.
"use strict";

let pending = 0;
let running = false;
let waiting = "";
let timer = 0;
let pushed = -Infinity;
let here = location.pathname + location.search;
let again = 0;
const TYPED = 300; // a number is typed digit by digit: only what is there for so many milliseconds is asked for
const RETRY = 3000;

function address(form) {
  // Only what was changed goes into the address, so that a link says no more than it means.
  const before = new URLSearchParams(location.search);
  const said = new Map(new FormData(form));
  const pairs = new URLSearchParams();
  for (const [name, value] of said) {
    const fields = [...form.elements].filter((field) => field.name === name); // the sizes stand outside of the form
    const given = fields[fields.length - 1].dataset.given;
    if (value === "" || (given === value && !before.has(name))) continue;
    pairs.append(name, value);
  }
  for (const key of ["batch", "seq", "images", "audios", "question", "patches", "module", "number", "device"]) if (before.has(key) && !said.has(key)) pairs.set(key, before.get(key));
  return `${form.getAttribute("action")}?${pairs}`;
}

function morph(old, fresh) {
  // What stays the same stays the same nodes: nothing jumps, no focus is lost, and little is laid out anew.
  if (old.isEqualNode(fresh)) return;
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "hidden" && name !== "open") old.removeAttribute(name);
  const here = [...old.childNodes].filter((node) => !node.classList?.contains("fold"));
  const wanted = [...fresh.childNodes];
  if (here.length !== wanted.length || here.some((node, index) => node.nodeName !== wanted[index].nodeName)) {
    old.replaceChildren(...wanted);
    return;
  }
  here.forEach((node, index) => {
    if (node.nodeType === Node.ELEMENT_NODE) morph(node, wanted[index]);
    else if (node.data !== wanted[index].data) node.data = wanted[index].data;
  });
}

function put(page) {
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) morph(part, fresh);
  }
  if (page.title) document.title = page.title;
  prepare();
}

function refuse(text, offers = []) {
  // What is wrong, and ways out; until it is right again the figures are marked as those of other sizes.
  const line = document.getElementById("refused");
  line.hidden = !text;
  line.replaceChildren(text, ...offers.map((offer) => offer.cloneNode(true)));
  document.body.classList.toggle("stale", Boolean(text));
}

async function part(name, url) {
  // One part of the page for a question; null where the server cannot be reached.
  try {
    const answer = await fetch(url.replace("/model?", `/part/${name}?`));
    return { ok: answer.ok, status: answer.status, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
  } catch {
    return null;
  }
}

function busy(now) {
  document.getElementById("answer").setAttribute("aria-busy", String(now));
}

async function show(url, push = true) {
  // One question at a time: while one is under way only the latest waits, so that a slider never outruns the server.
  if (running) {
    waiting = url;
    return;
  }
  running = true;
  clearTimeout(again);
  const answer = await part("where", url);
  running = false;
  if (answer && answer.ok) arrived(answer.page, url, push);
  else if (!answer || answer.status === 429) later(answer, url);
  else refuse(reason(answer), [...answer.page.querySelectorAll(".offers a")]);
  if (waiting) {
    const next = waiting;
    waiting = "";
    show(next);
  } else if (answer && answer.ok) {
    await finish(url);
  } else {
    busy(false);
  }
}

function later(answer, url) {
  // The server is gone, or has had too many questions: what stands there is of other sizes, and the question is asked again.
  refuse(answer ? document.body.dataset.busy : document.body.dataset.gone);
  again = setTimeout(() => { if (!running && !waiting) show(url); }, RETRY);
}

async function finish(url) {
  const mine = ++pending;
  const answer = await part("why", url);
  if (mine !== pending || running) return;
  if (answer && answer.ok) put(answer.page);
  await cost(url);
  busy(false);
}

async function cost(url) {
  // What a model costs is told last: it takes longest, and stands lowest.
  if (!document.querySelector("[data-later=costs]") || !url.startsWith("/model?")) return;
  const answer = await part("costs", url);
  if (!answer || !answer.ok || running) return;
  put(answer.page);
  document.getElementById("costs").hidden = false;
}

function reason(answer) {
  return answer.page.querySelector(".error")?.textContent ?? String(answer.status);
}

function arrived(page, url, push) {
  refuse("");
  put(page);
  // One entry in the history for one movement, however many steps a slider makes on its way.
  const now = performance.now();
  if (push && now - pushed > 1000) history.pushState(null, "", url);
  else if (push) history.replaceState(null, "", url);
  if (push) pushed = now;
  here = url;
}

function changed(form, wait) {
  clearTimeout(timer);
  busy(true);
  timer = setTimeout(() => show(address(form)), wait);
}

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.matches("[data-live], [data-pass]") || event.target.name === "source" || event.target.name === "number") return;
  const typed = event.target.type === "number";
  if (typed && (event.target.value === "" || !event.target.validity.valid)) {
    event.target.setAttribute("aria-invalid", "true");
    refuse(document.body.dataset.whole.replace("{key}", event.target.name.replace("set.", "")));
    clearTimeout(timer);
    return;
  }
  event.target.removeAttribute("aria-invalid");
  const partner = event.target.dataset.for;
  if (partner) {
    const field = document.getElementById(partner);
    field.value = event.target.value;
    field.removeAttribute("aria-invalid");
  } else if (event.target.id) {
    const slider = document.querySelector(`[data-for="${CSS.escape(event.target.id)}"]`);
    if (slider) slider.value = event.target.value;
  }
  changed(form, typed ? TYPED : 0);
});

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form?.matches("[data-costs]")) return;
  const url = new URL(here, location.origin);
  if (event.target.value) url.searchParams.set("device", event.target.value);
  else url.searchParams.delete("device");
  here = url.pathname + url.search;
  history.replaceState(null, "", here);
  cost(here.startsWith("/model?") ? here : `/model?${url.searchParams}`);
});

document.addEventListener("change", async (event) => {
  // Another model has other fields, so the whole page is asked for; a name that nobody knows is said without leaving.
  if (event.target.name === "source" && event.target.form?.matches("[data-live]")) {
    const pairs = new URLSearchParams({ source: event.target.value });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    const answer = await part("where", `/model?${pairs}`);
    if (!answer || !answer.ok) refuse(unanswered(answer) || reason(answer));
    else location.href = `/model?${pairs}`;
  }
});

document.addEventListener("submit", async (event) => {
  if (held && event.target.matches("form[data-pass]")) {
    event.preventDefault();
    await askOf(held, Object.fromEntries(new FormData(event.target)));
  } else if (event.target.matches("form[data-live], form[data-pass]")) {
    event.preventDefault();
    changed(event.target, 0);
  } else if (event.target.matches("form[data-paste]")) {
    // A config that cannot be weighed stays where it is, with what is wrong below it.
    event.preventDefault();
    const pairs = new URLSearchParams(new FormData(event.target));
    const answer = await part("where", `/model?${pairs}`);
    const line = event.target.querySelector("[data-problem]");
    if (answer && answer.ok) location.href = `/model?${pairs}`;
    else {
      line.hidden = false;
      line.textContent = unanswered(answer) || reason(answer);
    }
  }
});

function within(url) {
  // Everything of a question but the module in view.
  const pairs = new URL(url, location.origin).searchParams;
  pairs.delete("module");
  return `${pairs}`;
}

// A step to another place of the same page (#answer) comes as popstate as well; one to another module of the same model is no new page.
window.addEventListener("popstate", () => {
  const now = location.pathname + location.search;
  if (now === here) return;
  if (location.pathname === "/model" && document.querySelector("#where") && within(now) === within(here)) show(now, false);
  else location.reload();
});

document.addEventListener("click", (event) => {
  // A module is looked into in place: nothing that was folded, typed or scrolled to is lost.
  const link = event.target.closest(".pictures a, .crumbs a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const address = link.href.baseVal ?? link.getAttribute("href");
  if (!address.startsWith("/model?")) return;
  event.preventDefault();
  if (event.pointerType === "touch" && touched !== link) {
    touched = link; // the first touch tells, the second leads inside
    return;
  }
  touched = null;
  light(null, 0, 0);
  pushed = -Infinity;
  show(address);
});
let touched = null;

const MANY = 80;
const folded = new Map();

function fold(table) {
  // Rows under another fold into it; of a table with very many, the deeper ones do so at first. What was folded by hand stays so.
  const rows = [...table.tBodies[0].rows];
  const depths = rows.map((row) => Number(row.dataset.depth));
  const path = [];
  table.querySelectorAll(".fold").forEach((button) => button.remove());
  rows.forEach((row, index) => {
    const name = [...row.cells[0].childNodes].filter((node) => !["below", "fold"].includes(node.className) && node.nodeName !== "I").map((node) => node.textContent).join("");
    path.splice(depths[index], path.length, name);
    if (!(depths[index + 1] > depths[index])) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    button.dataset.key = path.join(" ");
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => {
      folded.set(button.dataset.key, button.getAttribute("aria-expanded") === "true");
      unfold(rows, depths);
    });
    if (!folded.has(button.dataset.key) && rows.length > MANY) folded.set(button.dataset.key, depths[index] > 0);
    row.cells[0].prepend(button);
  });
  unfold(rows, depths);
}

function unfold(rows, depths) {
  let shut = Infinity;
  rows.forEach((row, index) => {
    if (depths[index] <= shut) shut = Infinity;
    row.hidden = depths[index] > shut;
    const button = row.querySelector(".fold");
    if (!button) return;
    const closed = Boolean(folded.get(button.dataset.key));
    button.setAttribute("aria-expanded", String(!closed));
    if (closed && !row.hidden) shut = depths[index];
  });
}

let held = null; // the file in view: its header goes along with every question about it

async function weighed(file, more) {
  // The server says which bytes of the header it still wants; no weights are sent. Null where it does not answer.
  let pieces = [{ at: 0, end: Math.min(4096, file.size) }];
  let answer = null;
  for (let round = 0; round < 60; round++) {
    const query = new URLSearchParams(location.search);
    const asked = new URLSearchParams({ ...more, size: String(file.size), name: file.name });
    if (query.has("lang")) asked.set("lang", query.get("lang"));
    asked.set("slices", pieces.map((piece) => `${piece.at}:${piece.end - piece.at}`).join(","));
    const body = new Blob(pieces.map((piece) => file.slice(piece.at, piece.end)));
    try {
      answer = await fetch(`/dropped?${asked}`, { method: "POST", body });
    } catch {
      return null;
    }
    if (answer.status !== 409) return answer;
    const { offset, length } = (await answer.json()).wanted;
    // A header without a stated length is asked for in small steps; each round fetches as much again, up to a quarter of a megabyte.
    const step = length <= 512 ? Math.max(length, Math.min(round * round * 4096, 262144)) : length;
    const end = Math.min(offset + step, file.size);
    pieces = pieces.filter((piece) => piece.at < offset || piece.end > end);
    const joined = pieces.find((piece) => piece.end === offset);
    if (joined) joined.end = end;
    else pieces.push({ at: offset, end });
  }
  return answer;
}

async function weighFile(file) {
  if (/\.json$/.test(file.name) && file.size < 1000000) {
    const pairs = new URLSearchParams({ config: await file.text() });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    location.href = `/model?${pairs}`;
    return;
  }
  if (!await askOf(file)) return;
  // A file is no preset: the field above is emptied, and the address names the file, which is not kept anywhere.
  held = file;
  const field = document.querySelector("#source");
  if (field) field.value = "";
  const pairs = new URLSearchParams({ dropped: file.name });
  const language = new URLSearchParams(location.search).get("lang");
  if (language) pairs.set("lang", language);
  here = `/model?${pairs}`;
  history.pushState(null, "", here);
}

async function askOf(file, more = {}) {
  const answer = await weighed(file, more);
  const text = answer && answer.status !== 429 && !answer.bodyUsed ? await answer.text() : "";
  const page = new DOMParser().parseFromString(text, "text/html");
  const line = document.createElement("p");
  const fine = Boolean(answer && answer.ok);
  if (fine) {
    refuse("");
    put(page);
    document.getElementById("costs").hidden = true;
    line.textContent = file.name;
  } else {
    line.className = "error";
    line.textContent = `${file.name}: ${unanswered(answer) || reason({ page, status: answer.status })}`;
  }
  document.querySelector("#dropped").replaceChildren(line);
  return fine;
}

function unanswered(answer) {
  // Why there is no answer at all: the server is gone, or has had too many questions; nothing otherwise.
  return !answer ? document.body.dataset.silent : answer.status === 429 ? document.body.dataset.often : "";
}

function prepare() {
  for (const picture of document.querySelectorAll(".treemap")) picture.querySelectorAll("a").forEach((link, index) => link.setAttribute("tabindex", index ? "-1" : "0"));
  for (const table of document.querySelectorAll("table.tree")) {
    const rows = [...table.tBodies[0].rows];
    const around = rows.filter((row, index) => Number(rows[index + 1]?.dataset.depth) > Number(row.dataset.depth));
    if (around.some((row) => !row.querySelector(".fold"))) fold(table);
  }
  document.querySelectorAll("[data-print]").forEach((button) => { button.hidden = false; button.onclick = () => print(); });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.onclick = () => navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  });
}

function combine(input) {
  // A list of names that the server ranks as one types; it floats above everything, so that no side bar cuts it.
  const list = document.createElement("ul");
  list.id = `${input.id}-names`;
  list.className = "names";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.labels[0]?.textContent ?? input.getAttribute("aria-label"));
  for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(key, value);
  document.body.append(list);
  let at = -1;
  let asked = 0;

  function item(name) {
    const line = document.createElement("li");
    line.id = `${list.id}-${name.value}`;
    line.setAttribute("role", "option");
    line.dataset.value = name.value;
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = name.note;
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = name.count === null ? "" : name.count.toLocaleString("en");
    line.append(name.value, count, note);
    return line;
  }

  async function offer(words) {
    const mine = ++asked;
    const pairs = new URLSearchParams({ q: words });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    let found;
    try {
      const answer = await fetch(`/part/names?${pairs}`);
      found = answer.ok ? await answer.json() : [];
    } catch {
      found = [];
    }
    if (mine !== asked || document.activeElement !== input) return;
    list.replaceChildren(...found.map(item));
    reveal(found.length > 0);
    mark(words ? 0 : found.findIndex((name) => name.value === input.value));
  }

  function reveal(now) {
    list.hidden = !now;
    input.setAttribute("aria-expanded", String(now));
    if (now) place();
    else mark(-1);
  }

  function place() {
    const box = input.getBoundingClientRect();
    const below = innerHeight - box.bottom > 220 || box.top < 220;
    list.style.left = `${Math.max(8, Math.min(box.left, innerWidth - Math.max(box.width, 300) - 8))}px`;
    list.style.minWidth = `${box.width}px`;
    list.style.top = below ? `${box.bottom + 2}px` : "";
    list.style.bottom = below ? "" : `${innerHeight - box.top + 2}px`;
    list.style.maxHeight = `${Math.min(340, (below ? innerHeight - box.bottom : box.top) - 12)}px`;
  }

  function mark(index) {
    list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    at = index;
    const chosen = list.hidden ? null : list.children[at];
    if (chosen) {
      chosen.setAttribute("aria-selected", "true");
      input.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function take(chosen) {
    asked += 1;
    input.value = chosen.dataset.value;
    reveal(false);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => { if (list.hidden) offer(""); });
  input.addEventListener("input", () => offer(input.value));
  input.addEventListener("blur", () => { asked += 1; reveal(false); });
  addEventListener("scroll", () => { if (!list.hidden) place(); }, { passive: true, capture: true });
  addEventListener("resize", () => { if (!list.hidden) place(); });
  input.addEventListener("keydown", (event) => {
    const last = list.children.length - 1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) {
      event.preventDefault();
      if (list.hidden) offer("");
      else mark(Math.max(0, Math.min(last, at + steps[event.key])));
    } else if (event.key === "Enter" && !list.hidden && list.children[at]) {
      event.preventDefault();
      take(list.children[at]);
    } else if (event.key === "Escape") {
      asked += 1;
      if (!list.hidden) event.preventDefault();
      reveal(false);
    }
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const chosen = event.target.closest("li");
    if (chosen) take(chosen);
  });
}

// One module is one thing: its row, its cells and its formula light together, and one tooltip tells of it.
const tip = document.getElementById("tip");
let lit = "";

function placesOf(node) {
  return (node.dataset.place ?? "").split(" ").filter(Boolean);
}

function light(node, x, y) {
  const marked = node?.closest("[data-place]") ?? null;
  const place = marked ? marked.dataset.place : "";
  if (place !== lit) {
    document.querySelectorAll(".lit").forEach((other) => other.classList.remove("lit"));
    lit = place;
    const wanted = new Set(place.split(" ").filter(Boolean));
    if (wanted.size) document.querySelectorAll("[data-place]").forEach((other) => { if (placesOf(other).some((one) => wanted.has(one))) other.classList.add("lit"); });
    tip.replaceChildren(...(marked ? words(marked, wanted) : []));
    tip.hidden = !tip.children.length;
  }
  if (!tip.hidden) {
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 12) : y + 18}px`;
  }
}

function words(marked, wanted) {
  const row = [...document.querySelectorAll("tr[data-place]")].find((one) => placesOf(one).some((place) => wanted.has(place)));
  const lines = [];
  const say = (text, strong) => {
    if (!text) return;
    const line = document.createElement(strong ? "b" : "span");
    line.textContent = text;
    lines.push(line);
  };
  say([...wanted].join(", "), true);
  const cells = row ? [...row.cells].map((cell) => cell.textContent.trim()) : [];
  if (row) say([cells[2], cells[3]].filter(Boolean).join(" · "));
  else say(marked.querySelector("title")?.textContent.split(": ").pop() ?? marked.parentNode.querySelector("title")?.textContent.split(": ").pop());
  if (row) say(cells[1]);
  const names = [...document.querySelectorAll(".formulas dt")];
  const term = names.find((name) => wanted.has(name.textContent));
  if (term) say(term.nextElementSibling.textContent);
  return lines;
}

document.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") light(event.target.closest?.(".pictures, .tree, .parts") ? event.target : null, event.clientX, event.clientY); });
document.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") light(event.target.closest?.(".pictures, .tree, .parts") ? event.target : null, event.clientX, event.clientY); });
document.addEventListener("focusin", (event) => {
  const inside = event.target.closest?.(".pictures a, .tree tr");
  const node = inside?.querySelector?.("[data-place]") ?? inside;
  if (!inside) {
    light(null, 0, 0);
    return;
  }
  const box = inside.getBoundingClientRect();
  if (inside.matches("a") && !event.target.matches(":focus-visible")) return;
  light(node, box.left, Math.min(box.bottom, innerHeight - 80));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") light(null, 0, 0);
  // The modules of a picture are one Tab stop; arrows go from one to the next.
  const link = event.target.closest?.(".treemap a");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!link || !step) return;
  event.preventDefault();
  const links = [...link.closest("svg").querySelectorAll("a")];
  const next = links[(links.indexOf(link) + step + links.length) % links.length];
  link.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
});

function receive(take) {
  // The whole page takes a dropped file, so that nobody has to aim.
  const place = document.querySelector("#drop");
  document.addEventListener("dragover", (event) => { event.preventDefault(); place?.classList.add("over"); });
  document.addEventListener("dragleave", () => place?.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    place?.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
}

document.querySelectorAll("input[data-names]").forEach((input, index) => {
  input.id ||= `name-${index}`;
  combine(input);
});
const place = document.querySelector("#drop");
if (place) {
  place.hidden = false;
  document.querySelector("#file").onchange = (event) => weighFile(event.target.files[0]);
  receive(weighFile);
}
const article = document.querySelector("[data-drop-text]");
if (article) {
  const read = async (file) => { article.value = await file.text(); };
  const pick = document.querySelector("[data-pick-text]");
  pick.closest("label").hidden = false;
  pick.onchange = (event) => read(event.target.files[0]);
  receive(read);
}
prepare();
if (document.querySelector("[data-later=costs]") && document.querySelector("#sizes fieldset")) cost(here.startsWith("/model?") ? here : "/model?");

const exercise = document.querySelector("[data-quiz]");
if (exercise) {
  // What was solved is remembered in this browser alone.
  let solved = [];
  try {
    solved = JSON.parse(localStorage.getItem("solved") ?? "[]");
    if (exercise.dataset.correct === "true" && !solved.includes(exercise.dataset.quiz)) {
      solved.push(exercise.dataset.quiz);
      localStorage.setItem("solved", JSON.stringify(solved));
    }
  } catch { /* a browser that keeps nothing counts nothing */ }
  const line = exercise.querySelector("[data-solved]");
  line.hidden = !solved.length;
  line.querySelector("b").textContent = String(solved.length);
}
