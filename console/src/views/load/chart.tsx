import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { LoadSample } from '../../../../src/console/console-api.ts';
import type { BadgeTone } from '../../components/badge.tsx';
import { theme } from '../../session/theme.ts';
import { columnsOf, highlights, type Measure, formatShortNumber, retention } from './samples.ts';

/** One series of a chart. */
export interface ChartLine {
  readonly name: string;
  readonly tone: BadgeTone;
  readonly measure: Measure;
  /** Fills the area below the line. */
  readonly isFilled?: boolean;
}

interface ChartProps {
  title: string;
  /** Unit after each value, such as ` ms`. */
  unit?: string;
  lines: readonly ChartLine[];
  samples: readonly LoadSample[];
}

const height = 210;

/** A line chart of the last minutes, with the newest values above it. */
export function Chart({ title, unit = '', lines, samples }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const look = theme.value;

  // A canvas has no CSS: a theme change creates a new chart.
  useEffect(() => {
    const room = box.current;
    if (!room) return;
    const made = new uPlot(
      optionsFor(room, lines, unit),
      columnsOf(
        [],
        lines.map(({ measure }) => measure),
      ),
      room,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: room.clientWidth, height }));
    observer.observe(room);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [lines, unit, look]);

  useEffect(() => {
    plot.current?.setData(
      columnsOf(
        samples,
        lines.map(({ measure }) => measure),
      ),
    );
  }, [samples, lines, unit, look]);

  const series = lines.map(({ name, tone, measure }) => ({ name, tone, ...highlights(samples, measure) }));
  const spokenValues = series.map(
    ({ name, now, max }) => `${name}: now ${formatValue(now, unit)}, maximum ${formatValue(max, unit)}`,
  );
  return (
    <figure class="load-chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="load-now">
          {series.map(({ name, tone, now }) => (
            <li key={name}>
              <span class={`load-key load-${tone}`} />
              {name} <b>{formatValue(now, unit)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={box}
        class="load-plot"
        role="img"
        aria-label={`${title}, last five minutes. ${spokenValues.join('. ')}.`}
      />
    </figure>
  );
}

function formatValue(value: number | undefined, unit: string): string {
  return value === undefined ? '–' : `${formatShortNumber(value)}${unit}`;
}

function optionsFor(room: HTMLElement, lines: readonly ChartLine[], unit: string): uPlot.Options {
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
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: true, range: (_, __, max) => [(max ?? 0) - retention / 1_000, max ?? 1] },
      // A series of zeros is drawn at the bottom, not in the middle.
      y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.15, unit === '' ? 4 : 1)] },
    },
    axes: [
      { ...axis, space: 48, incrs: [60, 300], size: 26, values: (_, ticks) => ticks.map(clock) },
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

function clock(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return [time.getHours(), time.getMinutes()].map((each) => String(each).padStart(2, '0')).join(':');
}
