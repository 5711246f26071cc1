// Everything works without this file; with it, answers change as one types, and files can be dropped.
"use strict";

let pending = 0;
let running = false;
let waiting = "";
let timer = 0;
let pushed = 0;
let here = location.pathname + location.search;

function address(form) {
  // Only what was changed goes into the address, so that a link says no more than it means.
  const before = new URLSearchParams(location.search);
  const said = new Map(new FormData(form));
  const pairs = new URLSearchParams();
  for (const [name, value] of said) {
    const fields = form.querySelectorAll(`[name="${CSS.escape(name)}"]`);
    const given = fields[fields.length - 1].dataset.given;
    if (value === "" || (given === value && !before.has(name))) continue;
    pairs.append(name, value);
  }
  for (const key of ["batch", "seq", "images", "audios", "question", "patches", "module"]) if (before.has(key) && !said.has(key)) pairs.set(key, before.get(key));
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

function refuse(text) {
  const line = document.getElementById("refused");
  if (line) {
    line.hidden = !text;
    line.textContent = text;
  }
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

async function show(url) {
  // One question at a time: while one is under way only the latest waits, so that a slider never outruns the server.
  if (running) {
    waiting = url;
    return;
  }
  running = true;
  const answer = await part("where", url);
  running = false;
  if (answer && answer.ok) arrived(answer.page, url);
  else if (answer && answer.status !== 429) refuse(reason(answer));
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

async function finish(url) {
  const mine = ++pending;
  const answer = await part("why", url);
  if (mine !== pending || running) return;
  if (answer && answer.ok) put(answer.page);
  busy(false);
}

function reason(answer) {
  return answer.page.querySelector(".error")?.textContent ?? String(answer.status);
}

function arrived(page, url) {
  refuse("");
  put(page);
  // One entry in the history for one movement, however many steps a slider makes on its way.
  const now = performance.now();
  if (now - pushed > 1000) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  pushed = now;
  here = url;
}

function changed(form, wait) {
  clearTimeout(timer);
  busy(true);
  timer = setTimeout(() => show(address(form)), wait);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live], form[data-pass]");
  if (!form || event.target.name === "source") return;
  if (!event.target.validity.valid) return;
  const partner = event.target.dataset.for;
  if (partner) document.getElementById(partner).value = event.target.value;
  else if (event.target.id) {
    const slider = form.querySelector(`[data-for="${CSS.escape(event.target.id)}"]`);
    if (slider) slider.value = event.target.value;
  }
  changed(form, 0);
});

document.addEventListener("change", async (event) => {
  // Another model has other fields, so the whole page is asked for; a name that nobody knows is said without leaving.
  if (event.target.name === "source" && event.target.closest("form[data-live]")) {
    const pairs = new URLSearchParams({ source: event.target.value });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    const answer = await part("where", `/model?${pairs}`);
    if (answer && !answer.ok) refuse(reason(answer));
    else location.href = `/model?${pairs}`;
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-live], form[data-pass]")) {
    event.preventDefault();
    changed(event.target, 0);
  }
});

// A step to another place of the same page (#answer) comes as popstate as well.
window.addEventListener("popstate", () => { if (location.pathname + location.search !== here) location.reload(); });

const MANY = 80;
const folded = new Map();

function fold(table) {
  // Rows under another fold into it; of a table with very many, the deeper ones do so at first. What was folded by hand stays so.
  const rows = [...table.tBodies[0].rows];
  const depths = rows.map((row) => Number(row.dataset.depth));
  const path = [];
  table.querySelectorAll(".fold").forEach((button) => button.remove());
  rows.forEach((row, index) => {
    const name = [...row.cells[0].childNodes].filter((node) => node.className !== "below").map((node) => node.textContent).join("");
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

async function weighed(file, url) {
  // The server says which bytes of the header it still wants; no weights are sent.
  let pieces = [{ at: 0, end: Math.min(4096, file.size) }];
  for (let round = 0; round < 60; round++) {
    const query = new URLSearchParams(location.search);
    const asked = new URLSearchParams({ size: String(file.size), name: file.name });
    if (query.has("lang")) asked.set("lang", query.get("lang"));
    asked.set("slices", pieces.map((piece) => `${piece.at}:${piece.end - piece.at}`).join(","));
    const body = new Blob(pieces.map((piece) => file.slice(piece.at, piece.end)));
    const answer = await fetch(`${url}?${asked}`, { method: "POST", body });
    if (answer.status !== 409) return answer;
    const { offset, length } = (await answer.json()).wanted;
    // A header without a stated length is asked for in small steps; each round fetches as much again, up to a quarter of a megabyte.
    const more = length <= 512 ? Math.max(length, Math.min(round * round * 4096, 262144)) : length;
    const end = Math.min(offset + more, file.size);
    pieces = pieces.filter((piece) => piece.at < offset || piece.end > end);
    const joined = pieces.find((piece) => piece.end === offset);
    if (joined) joined.end = end;
    else pieces.push({ at: offset, end });
  }
  return null;
}

async function weighFile(file) {
  if (/\.json$/.test(file.name) && file.size < 1000000) {
    const pairs = new URLSearchParams({ config: await file.text() });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    location.href = `/model?${pairs}`;
    return;
  }
  const answer = await weighed(file, "/dropped");
  const page = answer && new DOMParser().parseFromString(await answer.text(), "text/html");
  const line = document.createElement("p");
  if (answer && answer.ok) {
    refuse("");
    put(page);
    line.textContent = file.name;
  } else {
    line.className = "error";
    line.textContent = `${file.name}: ${page?.querySelector(".error")?.textContent ?? "?"}`;
  }
  document.querySelector("#dropped").replaceChildren(line);
}

function prepare() {
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

function combine(input, names) {
  // A list of names that is searched as one types, by any part of a name; without this file the browser's own list does it.
  const list = document.createElement("ul");
  list.id = `${input.id}-names`;
  list.className = "names";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.labels[0]?.textContent ?? input.getAttribute("aria-label"));
  input.removeAttribute("list");
  for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(key, value);
  const around = document.createElement("span");
  around.className = "combined";
  input.replaceWith(around);
  around.append(input, list);
  let at = -1;

  function rank(name, words) {
    const low = name.value.toLowerCase();
    const both = `${low} ${name.hub.toLowerCase()}`;
    if (!words.every((word) => both.includes(word))) return 9;
    return low === words[0] || name.hub.toLowerCase() === words[0] ? 0 : low.startsWith(words[0]) ? 1 : low.includes(words[0]) ? 2 : 3;
  }

  function offer(words) {
    const found = names.map((name, index) => [words.length ? rank(name, words) : 1, index, name]).filter(([order]) => order < 9);
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    list.replaceChildren(...found.map(([, index, name]) => {
      const item = document.createElement("li");
      item.id = `${list.id}-${index}`;
      item.setAttribute("role", "option");
      item.dataset.value = name.value;
      const kind = document.createElement("span");
      kind.className = "note";
      kind.textContent = name.note;
      item.append(name.value, kind);
      return item;
    }));
    reveal(found.length > 0);
    mark(words.length ? 0 : found.findIndex(([, , name]) => name.value === input.value));
  }

  function reveal(now) {
    list.hidden = !now;
    input.setAttribute("aria-expanded", String(now));
    if (!now) mark(-1);
  }

  function mark(index) {
    list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    at = index;
    const item = list.hidden ? null : list.children[at];
    if (item) {
      item.setAttribute("aria-selected", "true");
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function take(item) {
    input.value = item.dataset.value;
    reveal(false);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => { if (list.hidden) offer([]); });
  input.addEventListener("input", () => offer(input.value.toLowerCase().split(/\s+/).filter(Boolean)));
  input.addEventListener("blur", () => reveal(false));
  input.addEventListener("keydown", (event) => {
    const last = list.children.length - 1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) {
      event.preventDefault();
      if (list.hidden) offer([]);
      else mark(Math.max(0, Math.min(last, at + steps[event.key])));
    } else if (event.key === "Enter" && !list.hidden && list.children[at]) {
      event.preventDefault();
      take(list.children[at]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      reveal(false);
    }
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const item = event.target.closest("li");
    if (item) take(item);
  });
}

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

const presets = document.getElementById("presets");
const kinds = presets.dataset.kinds.split("|");
const names = [...presets.options].map(({ value, label }) => ({ value, hub: label === value || label === "*" ? "" : label, note: label === "*" ? kinds[1] : label === value ? kinds[0] : label }));
document.querySelectorAll('input[list="presets"]').forEach((input, index) => {
  input.id ||= `name-${index}`;
  combine(input, names);
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
