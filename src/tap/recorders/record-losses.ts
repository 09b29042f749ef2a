import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { truncateSummary } from '../decode/summarize.ts';
import { TrafficRecorder } from './traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Of what something was lost, and between whom. */
export interface LossSource {
  readonly operation: Operation | 'card';
  readonly from: string;
  readonly to: string;
  readonly version?: ProtocolVersion | undefined;
  readonly taskId?: string | undefined;
}

const recorders = new WeakMap<TrafficLog, TrafficRecorder>();

/** Records what a translation could not carry over. */
export function recordLosses(
  tape: TrafficLog,
  losses: readonly TranslationLoss[],
  occasion: LossSource,
): void {
  let recorder = recorders.get(tape);
  if (!recorder) recorders.set(tape, (recorder = new TrafficRecorder(tape)));
  const recording = recorder;
  const at = recording.now();
  const { operation, from, to, version, taskId } = occasion;
  recording.backlog.add(0, () => {
    const lines = losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`);
    const text = recording.secrets.redactText(lines.join('\n'));
    recording.add({
      at,
      exchangeId: recording.nextTrip(),
      kind: 'loss',
      from,
      to,
      ...recording.kept(text),
      decoded: {
        operation,
        ...(version && { version }),
        ...(taskId !== undefined && { taskId }),
        summary: truncateSummary(
          `lost in ${operation}: ${text.split('\n', 1)[0]}${lines.length > 1 ? ` and ${lines.length - 1} more` : ''}`,
          160,
        ),
        losses,
      },
    });
  });
}
