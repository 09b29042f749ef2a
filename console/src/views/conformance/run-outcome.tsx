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

/** What an examination found, in one look. */
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
      class={`exam-outcome exam-edge-${unreachable === undefined ? tone : 'grey'}`}
      aria-label="Verdict"
    >
      <div class="exam-verdict">
        <h2>{unreachable === undefined ? conformanceLevel : 'No verdict'}</h2>
        <p>{unreachable ?? means}</p>
      </div>
      <div class="exam-facts">
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
        <p key={each} class="exam-warning">
          <Badge tone="amber">read this first</Badge> {each}
        </p>
      ))}
      <div class="exam-bottom">
        <Counts />
        <span class="exam-saves">
          <Button small onClick={onRead}>
            Read the report
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

/** How many results there are of each verdict; each shows its own. */
function Counts() {
  const now = resultFilter.value.verdict;
  return (
    <div class="exam-tallies" role="group" aria-label="Show only">
      {verdictOrder.map((verdict) => {
        const count = results.value.filter((each) => each.verdict === verdict).length;
        if (count === 0) return null;
        const { tone, name } = verdicts[verdict];
        return (
          <button
            key={verdict}
            type="button"
            class="exam-tally"
            aria-pressed={now === verdict}
            onClick={() =>
              (resultFilter.value = { ...resultFilter.value, verdict: now === verdict ? '' : verdict })
            }
          >
            <b class={`exam-${tone}`}>{count}</b> {name}
          </button>
        );
      })}
    </div>
  );
}
