import type { ConformanceReport } from '../../../../src/conformance/report/build-report.ts';
import { Badge, VariantBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { download } from '../../components/download.ts';
import { formatDateTime, formatDuration } from '../../components/format-units.ts';
import { levels, verdictOrder, verdicts } from './results.ts';
import { resultFilter, results } from './state.ts';

interface OutcomeProps {
  report: ConformanceReport;
  html: string;
  onRead: () => void;
}

/** Summary of a run. */
export function RunOutcome({ report, html, onRead }: OutcomeProps) {
  const {
    agentName,
    agentVersion,
    conformanceLevel,
    unreachable,
    variants: lanes,
    testDate,
    provenance,
    warnings,
  } = report;
  const { tone, means } = levels[conformanceLevel];
  const name = `conformance-${agentName}`;
  return (
    <section
      class={`conformance-outcome conformance-edge-${unreachable === undefined ? tone : 'grey'}`}
      aria-label="Verdict"
    >
      <div class="conformance-verdict">
        <h2>{unreachable === undefined ? conformanceLevel : 'No verdict'}</h2>
        <p>{unreachable ?? means}</p>
      </div>
      <div class="conformance-facts">
        <b>
          {agentName} {agentVersion}
        </b>
        {lanes.map((each) => (
          <VariantBadge
            key={`${each.version} ${each.transport}`}
            version={each.version}
            transport={each.transport}
          />
        ))}
        <span>
          {formatDateTime(testDate)}, {provenance.requests.toLocaleString('en')} requests in{' '}
          {formatDuration(provenance.duration_ms)}
        </span>
      </div>
      {warnings.map((each) => (
        <p key={each} class="conformance-warning">
          <Badge tone="amber">warning</Badge> {each}
        </p>
      ))}
      <div class="conformance-bottom">
        <Counts />
        <span class="conformance-saves">
          <Button small onClick={onRead}>
            Open report
          </Button>
          <Button small onClick={() => download(new Blob([html], { type: 'text/html' }), `${name}.html`)}>
            Save HTML
          </Button>
          <Button
            small
            onClick={() =>
              download(
                new Blob([JSON.stringify(report, null, 2)], { type: 'application/json' }),
                `${name}.json`,
              )
            }
          >
            Save JSON
          </Button>
        </span>
      </div>
    </section>
  );
}

/** Number of results per verdict; a click filters by it. */
function Counts() {
  const now = resultFilter.value.verdict;
  return (
    <div class="conformance-tallies" role="group" aria-label="Show only">
      {verdictOrder.map((verdict) => {
        const count = results.value.filter((each) => each.verdict === verdict).length;
        if (count === 0) return null;
        const { tone, name } = verdicts[verdict];
        return (
          <button
            key={verdict}
            type="button"
            class="conformance-tally"
            aria-pressed={now === verdict}
            onClick={() =>
              (resultFilter.value = { ...resultFilter.value, verdict: now === verdict ? '' : verdict })
            }
          >
            <b class={`conformance-${tone}`}>{count}</b> {name}
          </button>
        );
      })}
    </div>
  );
}
