// Comfort, not need: copying, search while typing, parts that follow changes, keys. Every page works
// without it.
"use strict";

const root = document.documentElement;
root.classList.add("js");
// Browsers offer the clipboard only over HTTPS and on this machine.
if (navigator.clipboard) root.classList.add("copies");

const all = (where, what) => [...where.querySelectorAll(what)];
const later = (ms, act) => {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(act, ms, ...given);
  };
};

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy]");
  // Whoever clicks beside an open menu is done with it.
  all(document, "details.menu[open], details.person[open]")
    .filter((menu) => !menu.contains(target))
    .forEach((menu) => { menu.open = false; });
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.getAttribute("aria-label");
  button.classList.add("done");
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => {
    button.classList.remove("done");
    button.setAttribute("aria-label", label);
  }, 1500);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const menu = event.target.closest?.("details.menu[open], details.person[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select"))
    return;
  const wanted = all(document, "[aria-keyshortcuts]")
    .find((one) => one.getAttribute("aria-keyshortcuts") === event.key);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input")) wanted.select();
  else wanted.click();
});

const load = async (address, signal) => {
  const answer = await fetch(address, { signal, headers: { accept: "text/html" } });
  // Elsewhere is the sign-in page: the next click will lead there.
  if (!answer.ok || answer.redirected) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

const STOPS = "a, button, summary, input, select, textarea, [tabindex]";
const heading = (details) => details.querySelector("summary")?.textContent;

// Puts every part of a fresh page in its place, but leaves alone what a person is busy with.
const renew = (page, mark) => all(document, `[${mark}]`).forEach((old) => {
  const active = document.activeElement;
  const fresh = page.querySelector(`[${mark}="${CSS.escape(old.getAttribute(mark))}"]`);
  if (!fresh || (old.contains(active) && active.form)) return;
  const open = all(old, "details[open]").map(heading);
  all(fresh, "details").forEach((one) => { one.open = open.includes(heading(one)); });
  if (old.isEqualNode(fresh)) return;
  const stop = all(old, STOPS).indexOf(active);
  old.replaceWith(fresh);
  if (stop >= 0) all(fresh, STOPS)[stop]?.focus({ preventScroll: true });
});

all(document, "form[data-search]").forEach((form) => {
  let asked;
  form.addEventListener("input", later(200, async () => {
    asked?.abort();
    asked = new AbortController();
    const address = new URL(form.action);
    new FormData(form).forEach((value, name) => { if (value) address.searchParams.set(name, value); });
    try {
      const page = await load(address, asked.signal);
      if (!page) return;
      history.replaceState(null, "", address);
      renew(page, "data-results");
    } catch {
      // A newer search took over, or the network is away; the button still works.
    }
  }));
});

const live = document.body.dataset.live;
if (live) {
  let source;
  let pause = 1000;
  const follow = later(250, async () => {
    try {
      const page = await load(location.href);
      if (page) renew(page, "data-live-part");
    } catch {
      // The next change tries again.
    }
  });
  const listen = () => {
    source?.close();
    if (document.hidden) return;
    source = new EventSource(live);
    source.addEventListener("open", () => { pause = 1000; });
    source.addEventListener("change", follow);
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(listen, pause);
      pause = Math.min(pause * 2, 60000);
    });
  };
  document.addEventListener("visibilitychange", () => {
    listen();
    if (!document.hidden) follow();
  });
  listen();
}
