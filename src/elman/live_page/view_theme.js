/** The switch between light and dark; at first the page is as the reader's system is. */

import { make } from "./view_dom.js";

export function makeThemeSwitch(onChange) {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const button = make("button", { type: "button", class: "quiet", onclick: () => turn() });
  const label = () => (button.textContent = isDark() ? "Light colours" : "Dark colours");
  const turn = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
    onChange();
  };
  system.addEventListener("change", () => {
    label();
    onChange();
  });
  label();
  return button;
}
