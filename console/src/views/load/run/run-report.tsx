import type { LoadReport } from '../../../../../src/console/console-api.ts';
import { formatDuration } from '../../../components/format-units.ts';
import { formatMilliseconds } from '../samples.ts';
import type { DisplayedRun } from './run-progress.ts';

const percentiles = ['p50', 'p90', 'p99', 'p999', 'max'] as const;

/** The result of a load run. */
export function RunReport({ run, report }: { run: DisplayedRun; report: LoadReport }) {
  const { plan, loop, latency, firstEvent, sendDelay, errors } = report;
  const manner = loop === 'open' ? `${plan.rate} requests per second` : `${plan.connections} clients`;
  const figures: readonly (readonly [string, string | number])[] = [
    ['Throughput', `${report.throughput.toFixed(1)}/s`],
    ['Requests', report.requests],
    ['Failed', report.failed],
    ['Duration', formatDuration(report.duration)],
    ...(plan.operation === 'stream' ? ([['Events', report.events]] as const) : []),
    ...(report.unsent > 0 ? ([['Not sent in time', report.unsent]] as const) : []),
    ...(report.abandoned > 0 ? ([['Without response', report.abandoned]] as const) : []),
  ];
  const rows = [
    { name: 'Latency', summary: latency },
    { name: 'First event', summary: firstEvent },
    { name: 'Sent late by', summary: sendDelay },
  ].filter(({ summary }) => summary);
  return (
    <section class="load-report" aria-label="Report">
      <h2>
        {run.start.agentName}, {run.variant}: {plan.operation}, {manner}
        {report.isStopped ? ', stopped' : ''}
      </h2>
      <dl class="load-figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {rows.length > 0 ? (
        <div class="load-scroll" tabIndex={0} role="region" aria-label="Percentiles">
          <table>
            <thead>
              <tr>
                <th scope="col">Percentiles</th>
                {percentiles.map((each) => (
                  <th key={each} scope="col">
                    {each === 'p999' ? 'p99.9' : each}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, summary }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {percentiles.map((each) => (
                    <td key={each}>{formatMilliseconds(summary?.[each])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {errors.length > 0 ? (
        <ul class="load-errors" aria-label="Errors by reason">
          {errors.map(({ reason, count, example }) => (
            <li key={reason}>
              <b>
                {count} {reason}
              </b>{' '}
              {example}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}
