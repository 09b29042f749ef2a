const two = (value: number): string => String(value).padStart(2, '0');

function dateOf(time: string | number): Date | undefined {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Formats a time with milliseconds, as in `14:03:09.120`; returns the input if it is not a time. */
export function formatClockTime(time: string | number): string {
  const date = dateOf(time);
  if (!date) return String(time).slice(0, 40);
  const millis = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

/** Formats date and time, as in `2026-06-01 14:03:09`. */
export function formatDateTime(time: string | number): string {
  const date = dateOf(time);
  if (!date) return String(time).slice(0, 40);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${formatClockTime(time).slice(0, 8)}`;
}

/** Formats a time of today as `14:03`, and another day as `2026-06-01`. */
export function formatDayOrTime(time: number, now: number = Date.now()): string {
  const [day = '', clock = ''] = formatDateTime(time).split(' ');
  return formatDateTime(now).startsWith(day) ? clock.slice(0, 5) : day;
}

/** Formats a duration, as in `120 ms`, `3.4 s`, `2 min 5 s`. */
export function formatDuration(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`;
  return `${Math.floor(millis / 60_000)} min ${Math.floor((millis % 60_000) / 1000)} s`;
}

const units = ['B', 'kB', 'MB', 'GB'] as const;

/** Formats a size, as in `12.3 kB`. */
export function formatByteSize(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

const plain = new Intl.NumberFormat('en');

/** Formats a count: `20,000`. */
export function formatCount(count: number): string {
  return plain.format(count);
}

/** Formats a count with its noun: `1 loss`, `2 losses`. */
export function formatCountedNoun(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
