import { computed, effect, signal } from '@preact/signals';

const key = 'dragoman-console-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Theme preference of the user. */
export type ThemePreference = 'system' | 'light' | 'dark';

const preferences: readonly ThemePreference[] = ['system', 'light', 'dark'];

function readWish(): ThemePreference {
  const stored = localStorage.getItem(key);
  return preferences.find((each) => each === stored) ?? 'system';
}

const systemIsDark = signal(dark.matches);

/** The stored theme preference. */
export const themePreference = signal<ThemePreference>(readWish());

/** The effective theme. Charts read their colors again when it changes. */
export const theme = computed<'light' | 'dark'>(() => {
  if (themePreference.value !== 'system') return themePreference.value;
  return systemIsDark.value ? 'dark' : 'light';
});

dark.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches;
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

effect(() => {
  if (themePreference.value === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, themePreference.value);
});

/** Switches to the next preference: system, light, dark. */
export function cycleTheme(): void {
  themePreference.value =
    preferences[(preferences.indexOf(themePreference.value) + 1) % preferences.length] ?? 'system';
}
