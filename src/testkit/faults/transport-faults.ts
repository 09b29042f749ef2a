import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { isTerminal } from '../../protocol/task.ts';
import { sampleDuration } from './duration.ts';
import type { Fault } from './fault.ts';
import type { FaultContext } from './fault-context.ts';

/**
 * Injects transport faults into a stream that does not use HTTP: delay, early end, broken connection or stall.
 */
export async function* withTransportFaults(
  events: AsyncIterable<StreamEvent>,
  faults: readonly Fault[],
  { clock, random }: FaultContext,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent> {
  for (const fault of faults)
    if (fault.kind === 'delay') await clock.sleep(sampleDuration(fault.duration, random), signal);
  let sentEvents = 0;
  for await (const event of events) {
    const fault = faults.find((each) => isTriggered(each, sentEvents, event));
    if (fault?.kind === 'early-end') return;
    if (fault?.kind === 'stall') return await waitForAbort(signal);
    if (fault) throw new A2AError('UNAVAILABLE', 'The connection was closed');
    yield event;
    sentEvents++;
  }
}

function isTriggered(fault: Fault, sentEvents: number, event: StreamEvent): boolean {
  switch (fault.kind) {
    case 'early-end':
      return fault.after === undefined ? isTerminalEvent(event) : fault.after === sentEvents;
    case 'reset':
      return (fault.after ?? 0) === sentEvents;
    case 'disconnect':
    case 'half-frame':
    case 'stall':
      return (fault.after ?? 1) === sentEvents;
    default:
      return false;
  }
}

function isTerminalEvent(event: StreamEvent): boolean {
  return event.kind === 'status' && isTerminal(event.status.state);
}

function waitForAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (!signal) return;
    const onAbort = (): void => reject(canceledError(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
