import type uPlot from 'uplot';
import type { BadgeTone } from '../../components/badge.tsx';
import { formatShortNumber, retention } from './samples.ts';

/** Height of a plot in pixels. */
export const plotHeight = 210;

/** Start and end of the displayed period, in milliseconds since 1970. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

interface ChartSettings {
  readonly lines: readonly { readonly name: string; readonly tone: BadgeTone; readonly isFilled?: boolean }[];
  readonly unit: string;
  readonly group: string;
  readonly range: () => TimeRange | undefined;
  /** Called with the time of the sample at the pointer; undefined if the pointer has left the chart. */
  readonly onPoint: (time: number | undefined) => void;
}

/** Returns the options of a chart in the colors of the page. */
export function chartOptions(room: HTMLElement, settings: ChartSettings): uPlot.Options {
  const { lines, unit, group, range, onPoint } = settings;
  const style = getComputedStyle(room);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = {
    stroke: colour('muted'),
    font,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(1, room.clientWidth),
    height: plotHeight,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 6 },
      sync: { key: group, scales: ['x', null] },
    },
    hooks: { setCursor: [(plot) => onPoint(timeAtCursor(plot))] },
    scales: {
      x: { time: true, range: (_, __, max) => xRange(range(), max) },
      // A series of zeros is drawn at the bottom, not in the middle.
      y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.15, unit === '' ? 4 : 1)] },
    },
    axes: [
      {
        ...axis,
        space: 64,
        incrs: [5, 10, 15, 30, 60, 120, 300],
        size: 26,
        values: (_, ticks) => clocks(ticks),
      },
      {
        ...axis,
        space: 34,
        size: 46,
        values: (_, ticks) => ticks.map((each) => `${formatShortNumber(each)}${unit}`),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, tone, isFilled = false }) => ({
        label: name,
        stroke: colour(`${tone}-ink`),
        width: 1.75,
        // Only an isolated sample is drawn as a point; others are connected by lines.
        points: { size: 4 },
        ...(isFilled ? { fill: colour(`${tone}-soft`) } : {}),
      })),
    ],
  };
}

function xRange(range: TimeRange | undefined, newest: number | null): [number, number] {
  if (range) return [range.from / 1_000, range.to / 1_000];
  return [(newest ?? 0) - retention / 1_000, newest ?? 1];
}

function timeAtCursor({ cursor, data }: uPlot): number | undefined {
  const { left = -1, idx } = cursor;
  const time = left < 0 || idx === null || idx === undefined ? undefined : data[0][idx];
  return time === undefined ? undefined : Math.round(time * 1_000);
}

/** Formats ticks as hours and minutes, with seconds if they are less than a minute apart. */
function clocks(ticks: readonly number[]): string[] {
  const [first = 0, second = first + 60] = ticks;
  return ticks.map((seconds) => {
    const time = new Date(seconds * 1_000);
    const parts = [time.getHours(), time.getMinutes(), ...(second - first < 60 ? [time.getSeconds()] : [])];
    return parts.map((each) => String(each).padStart(2, '0')).join(':');
  });
}
