import type { CallContext } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import { parseJsonOrUndefined } from '../primitives/json.ts';
import { type Endpoint, unreadableResponse } from './transports/transport-binding.ts';
import { decodeReportingLosses } from './transports/loss-reporting.ts';
import type { EndpointSelection } from './discovery/endpoint-selection.ts';
import { requestBuffered, parseTarget } from './http/send-request.ts';
import type { ClientSettings } from './connect-options.ts';

const path = 'agent/authenticatedExtendedCard';

/** What agents say to a method that they do not know. */
const unknownMethod: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'UNSUPPORTED_OPERATION',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_REQUEST',
]);

/** Asks for the extended card as 0.2 has it: beside the endpoint, and not by a method. Undefined where none is. */
export async function fetchExtendedCardByPath(
  settings: ClientSettings,
  route: EndpointSelection | undefined,
  { call, thrown }: { call: CallContext; thrown: unknown },
): Promise<AgentCard | undefined> {
  if (route?.agent.card?.capabilities.extendedAgentCard !== true) return undefined;
  const { endpoint } = route;
  if (endpoint.dialect.name !== 'v0_3' || !unknownMethod.has(A2AError.from(thrown).reason)) return undefined;
  for (const url of placesOf(endpoint)) {
    const answer = await requestBuffered(settings, {
      operation: 'extendedCard',
      method: 'GET',
      target: parseTarget(url),
      headers: { accept: 'application/json', 'user-agent': 'dragoman', ...settings.headers },
      call,
      auth: settings.auth,
      card: endpoint.card,
    });
    const wire = answer.status === 200 ? parseJsonOrUndefined(answer.text) : undefined;
    if (typeof wire === 'object' && wire !== null) return read(settings, endpoint, { wire, url });
    if (answer.status === 401) throw new A2AError('UNAUTHENTICATED', undefined, { status: 401 });
    if (answer.status === 403) throw new A2AError('PERMISSION_DENIED', undefined, { status: 403 });
  }
  return undefined;
}

/** The rule of 0.2 goes up one step from the endpoint; servers that are mounted somewhere have it below. */
function placesOf({ url }: Endpoint): Set<string> {
  const base = new URL(url);
  base.search = '';
  base.hash = '';
  const folder = base.href.replace(/\/+$/, '');
  return new Set([new URL(`${folder}/../${path}`).href, `${folder}/${path}`]);
}

function read(
  settings: ClientSettings,
  { dialect }: Endpoint,
  { wire, url }: { wire: object; url: string },
): AgentCard {
  try {
    return decodeReportingLosses(settings, { operation: 'extendedCard', url }, (reading) =>
      dialect.card.read(wire, reading),
    );
  } catch (thrown) {
    throw unreadableResponse(thrown, url);
  }
}
