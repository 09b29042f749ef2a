import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { truncate } from '../../primitives/text.ts';
import { TrafficRecorder } from './traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Call in which a translation loss occurred. */
export interface LossSource {
  readonly operation: Operation | 'card';
  readonly from: string;
  readonly to: string;
  readonly version?: ProtocolVersion | undefined;
  readonly taskId?: string | undefined;
}

const recorders = new WeakMap<TrafficLog, TrafficRecorder>();

/** Records translation losses. */
export function recordLosses(log: TrafficLog, losses: readonly TranslationLoss[], source: LossSource): void {
  let recorder = recorders.get(log);
  if (!recorder) recorders.set(log, (recorder = new TrafficRecorder(log)));
  const recording = recorder;
  const at = recording.now();
  const { operation, from, to, version, taskId } = source;
  recording.decodeQueue.add(0, () => {
    const lines = losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`);
    const text = recording.redactor.redactText(lines.join('\n'));
    recording.add({
      at,
      exchangeId: recording.nextExchangeId(),
      kind: 'loss',
      from,
      to,
      ...recording.truncate(text),
      decoded: {
        operation,
        ...(version && { version }),
        ...(taskId !== undefined && { taskId }),
        summary: truncate(
          `lost in ${operation}: ${text.split('\n', 1)[0]}${lines.length > 1 ? ` and ${lines.length - 1} more` : ''}`,
          160,
        ),
        losses,
      },
    });
  });
}
