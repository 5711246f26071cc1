// Everything works without this file; with it, answers change as one types, and files can be dropped.
"use strict";

let pending = 0;
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
  for (const key of ["batch", "seq", "images", "audios", "patches", "module"]) if (before.has(key) && !said.has(key)) pairs.set(key, before.get(key));
  return `${form.getAttribute("action")}?${pairs}`;
}

function put(page) {
  const focused = document.activeElement && document.activeElement.id;
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) part.replaceChildren(...fresh.childNodes);
  }
  document.title = page.title;
  const again = focused && document.getElementById(focused);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
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

async function show(url) {
  const mine = ++pending;
  let answer, page;
  try {
    answer = await fetch(url);
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return;
  }
  if (mine !== pending) return;
  if (!answer.ok) {
    // What was typed cannot be weighed: the last answer stays where it is, and the reason is said beside it.
    refuse(page.querySelector(".error")?.textContent ?? String(answer.status));
    return;
  }
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
  changed(form, 20);
});

document.addEventListener("change", (event) => {
  // Another model has other fields, so the whole page is asked for.
  if (event.target.name === "source" && event.target.closest("form[data-live]")) {
    const pairs = new URLSearchParams({ source: event.target.value });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    location.href = `/model?${pairs}`;
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

function fold(table) {
  const rows = [...table.tBodies[0].rows];
  rows.forEach((row, index) => {
    const depth = Number(row.dataset.depth);
    const below = [];
    for (let next = index + 1; next < rows.length && Number(rows[next].dataset.depth) > depth; next++) below.push(rows[next]);
    if (!below.length) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    button.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-label", row.cells[0].firstChild.textContent);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      for (const other of below) {
        other.hidden = open;
        if (!open) other.querySelector(".fold")?.setAttribute("aria-expanded", "true");
      }
    });
    row.cells[0].prepend(button);
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
  for (const table of document.querySelectorAll("table.tree")) if (!table.querySelector(".fold")) fold(table);
  document.querySelectorAll("[data-print]").forEach((button) => { button.hidden = false; button.onclick = () => print(); });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.onclick = () => navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
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
