// Comfort, not need: a theme that is remembered and buttons that copy. Every page works without.
"use strict";

const root = document.documentElement;
const themes = ["system", "light", "dark"];
const remembered = () => {
  try {
    return localStorage.getItem("theme") ?? "system";
  } catch {
    return "system"; // Storage is switched off; the system decides.
  }
};
const show = (theme) => {
  if (theme === "system") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme);
};

// Before the body is drawn, so that nothing flashes.
show(remembered());

const addThemeSwitch = () => {
  const button = document.querySelector("button.theme");
  let theme = remembered();
  const label = () => { button.textContent = `Theme: ${theme}`; };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // It holds for this page only.
    }
    show(theme);
    label();
  });
  label();
  button.hidden = false;
};

const addCopyButton = (figure) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  figure.querySelector("figcaption").append(button);
};

document.addEventListener("DOMContentLoaded", () => {
  addThemeSwitch();
  // Browsers offer the clipboard only over HTTPS and on this machine.
  if (navigator.clipboard) document.querySelectorAll("figure").forEach(addCopyButton);
});
