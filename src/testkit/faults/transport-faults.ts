import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { isTerminal } from '../../protocol/task.ts';
import { drawDuration } from './duration.ts';
import type { Fault } from './fault.ts';
import type { FaultContext } from './fault-context.ts';

/**
 * Does to a stream that goes over no HTTP what the faults of a connection do to one that does: it comes late, ends
 * early, breaks, or says nothing more.
 */
export async function* withTransportFaults(
  events: AsyncIterable<StreamEvent>,
  faults: readonly Fault[],
  { clock, random }: FaultContext,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent> {
  for (const fault of faults)
    if (fault.kind === 'delay') await clock.sleep(drawDuration(fault.duration, random), signal);
  let passed = 0;
  for await (const event of events) {
    const fault = faults.find((each) => strikes(each, passed, event));
    if (fault?.kind === 'stop') return;
    if (fault?.kind === 'silence') return await forEver(signal);
    if (fault) throw new A2AError('UNAVAILABLE', 'The connection broke');
    yield event;
    passed++;
  }
}

function strikes(fault: Fault, passed: number, event: StreamEvent): boolean {
  switch (fault.kind) {
    case 'stop':
      return fault.after === undefined ? isEnd(event) : fault.after === passed;
    case 'reset':
      return (fault.after ?? 0) === passed;
    case 'cut':
    case 'half-frame':
    case 'silence':
      return (fault.after ?? 1) === passed;
    default:
      return false;
  }
}

function isEnd(event: StreamEvent): boolean {
  return event.kind === 'status' && isTerminal(event.status.state);
}

/** Waits until the caller gives up. */
function forEver(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new A2AError('CANCELED', undefined, { cause: signal?.reason }));
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}
