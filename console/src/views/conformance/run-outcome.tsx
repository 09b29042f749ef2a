import type { ConformanceReport } from '../../../../src/conformance/report/build-report.ts';
import { Badge, VariantBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { formatDateTime, formatDuration } from '../../components/format-units.ts';
import { levels, verdictOrder, verdicts } from './results.ts';
import { CompareBar } from './compare/compare-bar.tsx';
import { resultFilter, results, saveReport } from './state.ts';

interface OutcomeProps {
  id: string;
  report: ConformanceReport;
  onRead: () => void;
}

/** Formats of the report. */
const files = [
  { format: 'html', title: 'HTML', ending: 'html' },
  { format: 'json', title: 'JSON', ending: 'json' },
  { format: 'junit', title: 'JUnit', ending: 'xml' },
  { format: 'sarif', title: 'SARIF', ending: 'sarif' },
] as const;

/** Summary of a run. */
export function RunOutcome({ id, report, onRead }: OutcomeProps) {
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
  return (
    <section
      class={`conformance-outcome conformance-edge-${unreachable === undefined ? tone : 'grey'}`}
      aria-label="Verdict"
    >
      <div class="conformance-verdict">
        <h2>{unreachable === undefined ? conformanceLevel : 'No verdict'}</h2>
        <p>{unreachable ?? means}</p>
      </div>
      <div class="conformance-about">
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
          {files.map(({ format, title, ending }) => (
            <Button key={format} small onClick={() => void saveReport(format, ending)}>
              Save {title}
            </Button>
          ))}
        </span>
      </div>
      <CompareBar id={id} />
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
