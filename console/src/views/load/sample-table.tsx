import type { LoadSample } from '../../../../src/console/console-api.ts';
import { formatClockTime } from '../../components/format-units.ts';

const rows = 60;

/** The values of the charts in a table: the last minute, newest first. */
export function SampleTable({ samples }: { samples: readonly LoadSample[] }) {
  return (
    <details class="load-numbers">
      <summary>Values of the last minute</summary>
      <div class="load-scroll" tabIndex={0} role="region" aria-label="Values of the last minute">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Requests</th>
              <th scope="col">Errors</th>
              <th scope="col">Events</th>
              <th scope="col">Median</th>
              <th scope="col">p99</th>
              <th scope="col">Open streams</th>
            </tr>
          </thead>
          <tbody>
            {samples
              .slice(-rows)
              .toReversed()
              .map((each) => (
                <tr key={each.at}>
                  <th scope="row">{formatClockTime(each.at).slice(0, 8)}</th>
                  <td>{each.requests}</td>
                  <td>{each.errors}</td>
                  <td>{each.events}</td>
                  <td>{milliseconds(each.latencyMedian)}</td>
                  <td>{milliseconds(each.latencyP99)}</td>
                  <td>{each.openStreams}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
