import type { CallContext } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import { parseJsonOrUndefined } from '../primitives/json.ts';
import { type Endpoint, unreadableResponse } from './transports/transport-binding.ts';
import { decodeReportingLosses } from './transports/loss-reporting.ts';
import type { EndpointSelection } from './discovery/endpoint-selection.ts';
import { requestBuffered, parseTarget } from './http/send-request.ts';
import type { ClientSettings } from './connect-options.ts';
import { stripTrailing } from '../primitives/text.ts';

const path = 'agent/authenticatedExtendedCard';

/** Errors of agents that do not support the extended card method. */
const methodUnsupported: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'UNSUPPORTED_OPERATION',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_REQUEST',
]);

/** Fetches the extended card by its 0.2 path instead of a method. @returns undefined if there is none. */
export async function fetchExtendedCardByPath(
  settings: ClientSettings,
  selection: EndpointSelection | undefined,
  { call, thrown }: { call: CallContext; thrown: unknown },
): Promise<AgentCard | undefined> {
  if (selection?.agent.card?.capabilities.extendedAgentCard !== true) return undefined;
  const { endpoint } = selection;
  if (endpoint.dialect.name !== 'v0_3' || !methodUnsupported.has(A2AError.from(thrown).reason))
    return undefined;
  for (const url of candidateUrls(endpoint)) {
    const response = await requestBuffered(settings, {
      operation: 'extendedCard',
      method: 'GET',
      target: parseTarget(url),
      headers: { accept: 'application/json', 'user-agent': 'dragoman', ...settings.headers },
      call,
      auth: settings.auth,
      card: endpoint.card,
    });
    const wire = response.status === 200 ? parseJsonOrUndefined(response.text) : undefined;
    if (typeof wire === 'object' && wire !== null) return decodeCard(settings, endpoint, { wire, url });
    if (response.status === 401) throw new A2AError('UNAUTHENTICATED', undefined, { status: 401 });
    if (response.status === 403) throw new A2AError('PERMISSION_DENIED', undefined, { status: 403 });
  }
  return undefined;
}

/** In 0.2 the path is relative to the parent of the endpoint; servers with a base path serve it below the endpoint. */
function candidateUrls({ url }: Endpoint): Set<string> {
  const base = new URL(url);
  base.search = '';
  base.hash = '';
  const folder = stripTrailing(base.href, '/');
  return new Set([new URL(`${folder}/../${path}`).href, `${folder}/${path}`]);
}

function decodeCard(
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
