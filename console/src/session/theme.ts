import { computed, effect, signal } from '@preact/signals';

const key = 'dragoman-console-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** What a person can wish for. */
export type ThemeWish = 'system' | 'light' | 'dark';

const wishes: readonly ThemeWish[] = ['system', 'light', 'dark'];

function readWish(): ThemeWish {
  const kept = localStorage.getItem(key);
  return wishes.find((each) => each === kept) ?? 'system';
}

const systemIsDark = signal(dark.matches);

/** What the person wishes for; kept for the next visit. */
export const themeWish = signal<ThemeWish>(readWish());

/** The theme that is seen. Charts that are painted read their colours again when it changes. */
export const theme = computed<'light' | 'dark'>(() => {
  if (themeWish.value !== 'system') return themeWish.value;
  return systemIsDark.value ? 'dark' : 'light';
});

dark.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches;
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

effect(() => {
  if (themeWish.value === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, themeWish.value);
});

/** Goes on to the next wish: what the system says, light, dark. */
export function turnTheme(): void {
  themeWish.value = wishes[(wishes.indexOf(themeWish.value) + 1) % wishes.length] ?? 'system';
}
