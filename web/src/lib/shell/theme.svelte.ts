// The colour theme: the system's, until the reader chooses another.

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

let theme = $state<Theme>(remembered());

export function currentTheme(): Theme {
  return theme;
}

export function chooseTheme(next: Theme): void {
  theme = next;
  show(next);
  try {
    if (next === 'system') localStorage.removeItem('theme');
    else localStorage.setItem('theme', next);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

// A choice in one tab applies to all tabs.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== 'theme') return;
  theme = newValue === 'light' || newValue === 'dark' ? newValue : 'system';
  show(theme);
});

function remembered(): Theme {
  const set = document.documentElement.dataset.theme;
  return set === 'light' || set === 'dark' ? set : 'system';
}
