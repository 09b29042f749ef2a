import { Badge } from '../../components/badge.tsx';
import { Progress } from '../../components/progress.tsx';
import { verdictOrder, verdicts } from './results.ts';
import type { ConformanceRun } from './conformance-run.ts';

export function RunProgress({ examination }: { examination: ConformanceRun }) {
  const { agentName, done, total, counts, latest } = examination;
  return (
    <section class="conformance-going" aria-label="Progress">
      <Progress
        label={total === 0 ? `Preparing tests of ${agentName}` : `${agentName}: ${done} of ${total} checks`}
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
      <ul class="conformance-latest">
        {latest.map(({ rule, verdict }, at) => (
          <li key={done - at}>
            <span class={`conformance-sign conformance-${verdicts[verdict].tone}`}>
              {verdicts[verdict].sign}
            </span>
            <code>{rule}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
