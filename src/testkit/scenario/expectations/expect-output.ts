import { statusPurpose, statusText } from './expect-content.ts';
import { eventMismatches, statusParts } from './expect-event.ts';
import type { ExpectationMismatch } from './compare-values.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ExpectedOutput } from '../files/scenario-schema.ts';

type StatusUpdate = Extract<GatewayEvent, { type: 'status_update' }>;

/**
 * Compares gateway events with their expectations, in order. Unexpected events are mismatches, unless the case has
 * `skip_intermediate_events`.
 */
export function outputMismatches(
  { spec, firstVersion }: Pick<Scenario, 'spec' | 'firstVersion'>,
  events: readonly GatewayEvent[],
): ExpectationMismatch[] {
  const skipsEvents = spec.skip_intermediate_events;
  let start = 0;
  for (const [index, expected] of spec.expected_gateway_output.entries()) {
    const path = `expected_gateway_output[${index}]`;
    let closest: ExpectationMismatch[] | undefined;
    let position = start;
    for (; position < events.length; position++) {
      const { event, next } = aggregateEvent(expected, events, position);
      const streamed = streamedText(events, position);
      const mismatches = eventMismatches(expected, event, { path, streamed, firstVersion });
      if (mismatches.length === 0) {
        closest = undefined;
        start = next;
        break;
      }
      // Reports the first event of the expected type, which is probably the intended one.
      if (!closest || (event.type === expected.type && closest[0]?.path.endsWith('].type')))
        closest = mismatches;
      if (!skipsEvents) break;
    }
    if (closest) return closest;
    if (position >= events.length) return [{ path, problem: 'no more events', expected, actual: undefined }];
  }
  if (skipsEvents) return [];
  return events
    .slice(start)
    .map((actual) => ({ path: 'expected_gateway_output', problem: 'unexpected event', actual }));
}

/** Returns an event; merges consecutive text updates if the expectation applies to their aggregated text. */
function aggregateEvent(
  expected: ExpectedOutput,
  events: readonly GatewayEvent[],
  position: number,
): { event: GatewayEvent; next: number } {
  const event = events[position] as GatewayEvent;
  if (expected.type !== 'status_update' || !expected.assert_aggregated_stream_content || !isTextUpdate(event))
    return { event, next: position + 1 };
  let text = '';
  let last = event;
  let next = position;
  for (let each = events[next]; each && isTextUpdate(each); each = events[++next]) {
    text += statusText(statusParts(each));
    last = each;
  }
  const message = { messageId: '', role: 'agent' as const, parts: [{ text }] };
  return { event: { ...last, status: { ...last.status, message } }, next };
}

function isTextUpdate(event: GatewayEvent): event is StatusUpdate {
  return event.type === 'status_update' && statusPurpose(statusParts(event)) === 'generic_text_update';
}

function streamedText(events: readonly GatewayEvent[], position: number): string {
  let text = '';
  for (const event of events.slice(0, position))
    if (event.type === 'status_update') text += statusText(statusParts(event));
  return text;
}
