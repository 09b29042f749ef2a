import type { QuotaPeriod } from '../policy-settings.ts';

/** Returns begin and end of the period that contains a time, by the calendar in UTC, in milliseconds since 1970. */
export function quotaPeriodAt(per: QuotaPeriod, time: number): { start: number; end: number } {
  const date = new Date(time);
  const [year, month, day, hour] = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
  ];
  switch (per) {
    case 'hour':
      return { start: Date.UTC(year, month, day, hour), end: Date.UTC(year, month, day, hour + 1) };
    case 'day':
      return { start: Date.UTC(year, month, day), end: Date.UTC(year, month, day + 1) };
    case 'month':
      return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  }
}
