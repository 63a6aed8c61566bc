// @ts-check
// Light or dark: what the system prefers, unless the reader chose.

const KEY = 'nereid.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Tells plots and canvases that colours changed. */
export const changes = new EventTarget();

export function isDark() {
  const chosen = localStorage.getItem(KEY);
  return chosen ? chosen === 'dark' : dark.matches;
}

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  changes.dispatchEvent(new Event('change'));
}

/** Turns to the other; what the system prefers is not stored, so that the page goes on following it. */
export function turn() {
  const wanted = !isDark();
  if (wanted === dark.matches) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, wanted ? 'dark' : 'light');
  apply();
}

dark.addEventListener('change', apply);
apply();
