import { formatClockTime } from '../../components/format-units.ts';
import type { TimedSample } from './samples.ts';

const rows = 60;

/** A column of a table of samples. */
export interface SampleColumn<Sample> {
  readonly title: string;
  readonly text: (sample: Sample) => string | number;
}

interface SampleTableProps<Sample extends TimedSample> {
  samples: readonly Sample[];
  columns: readonly SampleColumn<Sample>[];
}

/** The values of the charts in a table: the last minute, newest first. */
export function SampleTable<Sample extends TimedSample>({ samples, columns }: SampleTableProps<Sample>) {
  return (
    <details class="load-numbers">
      <summary>Values of the last minute</summary>
      <div class="load-scroll" tabIndex={0} role="region" aria-label="Values of the last minute">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {columns.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {samples
              .slice(-rows)
              .toReversed()
              .map((each) => (
                <tr key={each.at}>
                  <th scope="row">{formatClockTime(each.at).slice(0, 8)}</th>
                  {columns.map(({ title, text }) => (
                    <td key={title}>{text(each)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
