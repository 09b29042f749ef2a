import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { BadgeTone } from '../../components/badge.tsx';
import { formatClockTime } from '../../components/format-units.ts';
import { theme } from '../../session/theme.ts';
import { chartOptions, plotHeight, type TimeRange } from './chart-options.ts';
import { columnsOf, highlights, type Measure, formatShortNumber, type TimedSample } from './samples.ts';

/** One series of a chart. */
interface ChartLine<Sample extends TimedSample> {
  readonly name: string;
  readonly tone: BadgeTone;
  readonly measure: Measure<Sample>;
  /** Fills the area below the line. */
  readonly isFilled?: boolean;
}

/** Title and series of a chart. Constant, because a chart is recreated when its series change. */
export interface ChartContent<Sample extends TimedSample> {
  readonly title: string;
  /** Unit after each value, such as ` ms`. */
  readonly unit?: string;
  readonly lines: readonly ChartLine<Sample>[];
}

interface ChartProps<Sample extends TimedSample> extends ChartContent<Sample> {
  samples: readonly Sample[];
  /** Displayed period in words, such as `last five minutes`. */
  period: string;
  /** Displayed period. @defaultValue the last minutes before the newest sample */
  range?: TimeRange | undefined;
  /** Charts of a group show the values of the same time. */
  group: string;
}

/**
 * A line chart with values above it: those at the pointer, or else the newest. A slider moves the pointer with the
 * keyboard; it is visible only while it has the focus.
 */
export function Chart<Sample extends TimedSample>(props: ChartProps<Sample>) {
  const { title, unit = '', lines, samples, period, range, group } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shownRange = useRef(range);
  shownRange.current = range;
  /** Time selected with the slider; it stays selected while samples arrive. */
  const heldTime = useRef<number | undefined>(undefined);
  const [pointedTime, setPointedTime] = useState<number | undefined>(undefined);
  const look = theme.value;

  // A canvas has no CSS: a theme change creates a new chart.
  useEffect(() => {
    const room = box.current;
    if (!room) return;
    const options = chartOptions(room, {
      lines,
      unit,
      group,
      range: () => shownRange.current,
      onPoint: setPointedTime,
    });
    const made = new uPlot(options, columnsOf<Sample>([], measuresOf(lines)), room);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: room.clientWidth, height: plotHeight }));
    observer.observe(room);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [lines, unit, group, look]);

  const point = (time: number | undefined): void => {
    heldTime.current = time;
    const made = plot.current;
    if (made) made.setCursor({ left: time === undefined ? -10 : made.valToPos(time / 1_000, 'x'), top: 0 });
  };

  useEffect(() => {
    plot.current?.setData(columnsOf(samples, measuresOf(lines)));
    if (heldTime.current !== undefined) point(heldTime.current);
  }, [samples, lines, unit, group, look]);

  const pointed = samples.findIndex(({ at }) => at === pointedTime);
  const shown = samples[pointed] ?? samples.at(-1);
  const series = lines.map(({ name, tone, measure }) => ({
    name,
    tone,
    text: formatValue(shown && measure(shown), unit),
    ...highlights(samples, measure),
  }));
  const spokenValues = series.map(
    ({ name, now, max }) => `${name}: now ${formatValue(now, unit)}, maximum ${formatValue(max, unit)}`,
  );
  const time = shown ? formatClockTime(shown.at).slice(0, 8) : '';
  return (
    <figure class="load-chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="load-now">
          {pointed >= 0 ? (
            <li>
              <time>{time}</time>
            </li>
          ) : null}
          {series.map(({ name, tone, text }) => (
            <li key={name}>
              <span class={`load-key load-${tone}`} />
              {name} <b>{text}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={box}
        class="load-plot"
        role="img"
        aria-label={`${title}, ${period}. ${spokenValues.join('. ')}.`}
      />
      <input
        type="range"
        class="load-slider"
        aria-label={`Time in ${title}`}
        aria-valuetext={`${time}: ${series.map(({ name, text }) => `${name} ${text}`).join(', ')}`}
        min={0}
        max={Math.max(0, samples.length - 1)}
        value={pointed >= 0 ? pointed : samples.length - 1}
        disabled={samples.length === 0}
        onFocus={() => point(samples.at(-1)?.at)}
        onInput={(event) => point(samples[Number(event.currentTarget.value)]?.at)}
        onBlur={() => point(undefined)}
      />
    </figure>
  );
}

function measuresOf<Sample extends TimedSample>(lines: readonly ChartLine<Sample>[]): Measure<Sample>[] {
  return lines.map(({ measure }) => measure);
}

function formatValue(value: number | undefined, unit: string): string {
  return value === undefined ? '–' : `${formatShortNumber(value)}${unit}`;
}
