import { themePreference, cycleTheme } from './theme.ts';

const pictures = {
  system: 'M4 5h16v11H4z M9 20h6 M12 16v4',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M12 2v2 M12 20v2 M2 12h2 M20 12h2 M5 5l1.4 1.4 M17.6 17.6 19 19 M5 19l1.4-1.4 M17.6 6.4 19 5',
  dark: 'M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z',
} as const;

const names = { system: 'system', light: 'light', dark: 'dark' } as const;

/** Cycles through system, light and dark theme. */
export function ThemeButton() {
  const label = `Theme: ${names[themePreference.value]}`;
  return (
    <button type="button" class="tool" aria-label={label} title={label} onClick={cycleTheme}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={pictures[themePreference.value]} />
      </svg>
    </button>
  );
}
