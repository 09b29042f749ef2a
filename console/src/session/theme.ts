import { computed, effect, signal } from '@preact/signals';

const key = 'dragoman-console-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** What a person can wish for. */
export type ThemePreference = 'system' | 'light' | 'dark';

const wishes: readonly ThemePreference[] = ['system', 'light', 'dark'];

function readWish(): ThemePreference {
  const kept = localStorage.getItem(key);
  return wishes.find((each) => each === kept) ?? 'system';
}

const systemIsDark = signal(dark.matches);

/** What the person wishes for; kept for the next visit. */
export const themePreference = signal<ThemePreference>(readWish());

/** The theme that is seen. Charts that are painted read their colours again when it changes. */
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

/** Goes on to the next wish: what the system says, light, dark. */
export function cycleTheme(): void {
  themePreference.value = wishes[(wishes.indexOf(themePreference.value) + 1) % wishes.length] ?? 'system';
}
