// Everything works without this file; with it, answers change as one types, and files can be dropped.
"use strict";

const live = () => document.querySelector("form[data-live]");
let pending = 0;
let timer = 0;

function address(form) {
  // Only what was changed goes into the address, so that a link says no more than it means.
  const pairs = new URLSearchParams();
  const before = new URLSearchParams(location.search);
  for (const [name, value] of new FormData(form)) {
    const field = form.querySelector(`[name="${CSS.escape(name)}"]`);
    const unchanged = name.startsWith("set.") && field.dataset.given === value && !before.has(name);
    if (value !== "" && !unchanged && !(name === "lang" && value === "en")) pairs.append(name, value);
  }
  for (const key of ["batch", "seq", "module"]) if (before.has(key)) pairs.set(key, before.get(key));
  return `${form.action.replace(location.origin, "")}?${pairs}`;
}

async function show(url, push) {
  const mine = ++pending;
  let page;
  try {
    page = new DOMParser().parseFromString(await (await fetch(url)).text(), "text/html");
  } catch {
    return;
  }
  if (mine !== pending) return;
  document.querySelector("#answer").replaceWith(page.querySelector("#answer"));
  document.querySelector("nav").replaceWith(page.querySelector("nav"));
  document.title = page.title;
  if (push) history.pushState(null, "", url);
  prepare();
}

function changed(form, now) {
  clearTimeout(timer);
  timer = setTimeout(() => show(address(form), true), now ? 0 : 40);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (!form || event.target.name === "source") return;
  const partner = event.target.dataset.for;
  if (partner) document.getElementById(partner).value = event.target.value;
  else if (event.target.id) {
    const slider = form.querySelector(`[data-for="${CSS.escape(event.target.id)}"]`);
    if (slider) slider.value = event.target.value;
  }
  changed(form, false);
});

document.addEventListener("change", (event) => {
  // Another model or class has other fields, so the whole page is asked for.
  if (event.target.closest("form[data-live]") && event.target.name === "source") {
    const pairs = new URLSearchParams({ source: event.target.value });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) pairs.set("lang", language);
    location.href = `/model?${pairs}`;
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-live]")) {
    event.preventDefault();
    changed(event.target, true);
  }
});

window.addEventListener("popstate", () => location.reload());

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
    button.textContent = "▾";
    button.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-label", row.cells[0].textContent);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      button.textContent = open ? "▸" : "▾";
      for (const other of below) {
        other.hidden = open;
        const inner = other.querySelector(".fold");
        if (!open && inner) { inner.setAttribute("aria-expanded", "true"); inner.textContent = "▾"; }
      }
    });
    row.cells[0].prepend(button);
  });
}

async function weighFile(file) {
  const result = document.querySelector("#dropped");
  if (/\.json$/.test(file.name) && file.size < 1000000) {
    location.href = `/model?${new URLSearchParams({ config: await file.text() })}`;
    return;
  }
  // The first slice tells how long a safetensors header is; other formats are read from their first megabytes.
  const first = new DataView(await file.slice(0, 8).arrayBuffer());
  let length = 1500000;
  if (first.byteLength === 8) {
    const stated = Number(first.getBigUint64(0, true)) + 8;
    if (stated < 100000000) length = stated;
  }
  const query = new URLSearchParams({ size: String(file.size), name: file.name });
  const answer = await fetch(`/api/v1/header?${query}`, { method: "POST", body: file.slice(0, length) });
  const found = await answer.json();
  const line = document.createElement("p");
  line.textContent = answer.ok
    ? `${file.name}: ${BigInt(found.parameters.unique).toLocaleString("en")} unique, ${BigInt(found.parameters.stored).toLocaleString("en")} stored`
    : `${file.name}: ${found.detail}`;
  line.className = answer.ok ? "big" : "error";
  result.replaceChildren(line);
}

function prepare() {
  document.querySelectorAll("table.tree").forEach(fold);
  document.querySelectorAll("[data-print]").forEach((button) => { button.hidden = false; button.onclick = () => print(); });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.onclick = () => navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  });
  const place = document.querySelector("#drop");
  if (place) {
    place.ondragover = (event) => { event.preventDefault(); place.classList.add("over"); };
    place.ondragleave = () => place.classList.remove("over");
    place.ondrop = (event) => { event.preventDefault(); place.classList.remove("over"); weighFile(event.dataTransfer.files[0]); };
  }
  const text = document.querySelector("[data-drop-text]");
  if (text) {
    text.ondragover = (event) => event.preventDefault();
    text.ondrop = async (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      text.value = await event.dataTransfer.files[0].text();
    };
  }
}

prepare();
