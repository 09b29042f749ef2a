import { statusPurpose, statusText } from './expect-content.ts';
import { eventMismatches, statusParts } from './expect-event.ts';
import type { ExpectationMismatch } from './compare-values.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ExpectedOutput } from '../files/scenario-schema.ts';

type StatusUpdate = Extract<GatewayEvent, { type: 'status_update' }>;

/**
 * Compares what came out with what is expected, in order. Events that nothing expects are a difference, unless the
 * case lets them pass.
 */
export function outputMismatches(
  { spec: words, versionsFrom }: Pick<Scenario, 'spec' | 'versionsFrom'>,
  events: readonly GatewayEvent[],
): ExpectationMismatch[] {
  const found: ExpectationMismatch[] = [];
  const skips = words.skip_intermediate_events;
  let at = 0;
  for (const [index, expected] of words.expected_gateway_output.entries()) {
    const path = `expected_gateway_output[${index}]`;
    let closest: ExpectationMismatch[] | undefined;
    let place = at;
    for (; place < events.length; place++) {
      const { event, next } = gathered(expected, events, place);
      const streamed = streamedUpTo(events, place);
      const differences = eventMismatches(expected, event, { path, streamed, versionsFrom });
      if (differences.length === 0) {
        closest = undefined;
        at = next;
        break;
      }
      // The first of the kind that is looked for was probably meant.
      if (!closest || (event.type === expected.type && closest[0]?.path.endsWith('].type')))
        closest = differences;
      if (!skips) break;
    }
    if (closest) return [...found, ...closest];
    if (place >= events.length)
      return [...found, { path, problem: 'nothing more came', expected, actual: undefined }];
  }
  if (!skips)
    for (const event of events.slice(at))
      found.push({ path: 'expected_gateway_output', problem: 'nothing expects this event', actual: event });
  return found;
}

/** The event, or consecutive texts as one where the expectation is of all of them together. */
function gathered(
  expected: ExpectedOutput,
  events: readonly GatewayEvent[],
  place: number,
): { event: GatewayEvent; next: number } {
  const event = events[place] as GatewayEvent;
  if (expected.type !== 'status_update' || !expected.assert_aggregated_stream_content || !isPlain(event))
    return { event, next: place + 1 };
  let text = '';
  let last = event;
  let next = place;
  for (let each = events[next]; each && isPlain(each); each = events[++next]) {
    text += statusText(statusParts(each));
    last = each;
  }
  const message = { messageId: '', role: 'agent' as const, parts: [{ text }] };
  return { event: { ...last, status: { ...last.status, message } }, next };
}

function isPlain(event: GatewayEvent): event is StatusUpdate {
  return event.type === 'status_update' && statusPurpose(statusParts(event)) === 'generic_text_update';
}

function streamedUpTo(events: readonly GatewayEvent[], place: number): string {
  let text = '';
  for (const event of events.slice(0, place))
    if (event.type === 'status_update') text += statusText(statusParts(event));
  return text;
}
