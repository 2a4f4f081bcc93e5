// Comfort, not need: every page works without.
"use strict";

const all = (where, what) => [...where.querySelectorAll(what)];
const look = document.documentElement.classList;
look.add("js");
// Only over HTTPS and on this machine.
if (navigator.clipboard) look.add("copies");

const MENUS = "details.menu[open], details.person[open]";

document.addEventListener("click", async ({ target }) => {
  // A click beside an open menu closes it.
  for (const menu of all(document, MENUS)) if (!menu.contains(target)) menu.open = false;
  const button = target.closest("[data-copy]");
  // A time lies above the link of its row, for its hover.
  if (target.matches(".link time")) target.closest(".link").querySelector(".row").click();
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
});

// A second click on the way is no second wish. Coming back makes forms good again.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if ("sent" in event.target.dataset) event.preventDefault();
  event.target.dataset.sent = "";
});
addEventListener("pageshow", () => all(document, "[data-sent]").forEach((form) => {
  delete form.dataset.sent;
}));

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const menu = target.closest?.(MENUS);
  if (key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("input, textarea, select")) return;
  const wanted = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input")) wanted.select();
  else wanted.click();
});

const load = async (address, signal) => {
  const answer = await fetch(address, { signal });
  // Elsewhere is the sign-in page.
  if (!answer.ok || answer.redirected) throw answer;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

const STOPS = "a, button, summary, input, [tabindex]";
const heading = (fold) => fold.querySelector("summary").textContent;

// Puts parts of a fresh page in place, but leaves alone what a person is busy with.
const renew = (page, mark) => all(document, `[${mark}]`).forEach((old) => {
  const active = document.activeElement;
  const fresh = page.querySelector(`[${mark}="${CSS.escape(old.getAttribute(mark))}"]`);
  if (!fresh || (old.contains(active) && active.form)) return;
  const open = all(old, "details[open]").map(heading);
  for (const fold of all(fresh, "details")) fold.open = open.includes(heading(fold));
  if (old.isEqualNode(fresh)) return;
  const stop = all(old, STOPS).indexOf(active);
  old.replaceWith(fresh);
  all(fresh, STOPS)[stop]?.focus({ preventScroll: true });
});

all(document, "form[data-search]").forEach((form) => {
  let asked;
  let timer;
  const search = async () => {
    asked?.abort();
    asked = new AbortController();
    const address = new URL(form.action);
    address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    try {
      renew(await load(address, asked.signal), "data-results");
      history.replaceState(null, "", address);
    } catch {
      // A newer search took over, or the network is away; Enter still works.
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 200);
  });
});

const { live } = document.body.dataset;
if (live) {
  let source;
  let due;
  let pause = 1000;
  const follow = () => {
    // Many changes are one look; what fails now is mended by the next.
    due ??= setTimeout(async () => {
      due = null;
      const page = await load(location).catch(() => null);
      if (page) renew(page, "data-live-part");
    }, 300);
  };
  const listen = () => {
    source?.close();
    if (document.hidden) return;
    source = new EventSource(live);
    source.onopen = () => { pause = 1000; };
    source.onerror = ({ target }) => {
      if (target.readyState !== EventSource.CLOSED) return;
      setTimeout(listen, pause);
      pause = Math.min(pause * 2, 60000);
    };
    source.addEventListener("change", follow);
  };
  document.addEventListener("visibilitychange", () => {
    listen();
    if (!document.hidden) follow();
  });
  listen();
}
