import { Badge, transportName, VersionBadge } from '../../components/badge.tsx';
import { Progress } from '../../components/progress.tsx';
import { VirtualList } from '../../components/virtual-list/virtual-list.tsx';
import type { CheckPlace } from '../../../../src/console/console-api.ts';
import { variantLabel, verdictOrder, verdicts } from './results.ts';
import type { ConformanceRun } from './conformance-run.ts';

/** Progress of a run: the checks that are running, and the verdicts as they come. */
export function RunProgress({ run }: { run: ConformanceRun }) {
  const { agentName, rule, done, total, counts, running, ended } = run;
  const subject = rule === undefined ? agentName : `${agentName}, ${rule}`;
  return (
    <section class="conformance-going" aria-label="Progress">
      <Progress
        label={total === 0 ? `Preparing tests of ${subject}` : `${subject}: ${done} of ${total} checks`}
        done={done}
        total={total}
      />
      <div class="conformance-counts">
        {verdictOrder
          .filter((verdict) => counts[verdict] !== undefined)
          .map((verdict) => (
            <Badge key={verdict} tone={verdicts[verdict].tone}>
              {counts[verdict]} {verdicts[verdict].name}
            </Badge>
          ))}
      </div>
      <ul class="conformance-running" aria-label="Running checks">
        {running.map((each) => (
          <li key={`${each.rule} ${variantLabel(each)}`}>
            <code>{each.rule}</code> <Place {...each} />
          </li>
        ))}
      </ul>
      <div class="conformance-ended">
        <VirtualList
          label="Ended checks"
          items={ended}
          rowHeight={28}
          keyOf={(each) => `${each.rule} ${variantLabel(each)}`}
        >
          {(each) => (
            <div class="conformance-ended-row">
              <span class={`conformance-sign conformance-${verdicts[each.verdict].tone}`}>
                {verdicts[each.verdict].sign}
                <span class="visually-hidden">{verdicts[each.verdict].name}</span>
              </span>
              <code>{each.rule}</code>
              <Place {...each} />
            </div>
          )}
        </VirtualList>
      </div>
    </section>
  );
}

function Place({ version, transport }: CheckPlace) {
  return (
    <span class="conformance-place">
      <VersionBadge version={version} /> {transport === undefined ? 'card' : transportName(transport)}
    </span>
  );
}
