import type { AgentEntry } from '../../../../../src/console/console-api.ts';
import {
  definesOperation,
  type OperationVariant,
} from '../../../../../src/dialects/http/operation-request.ts';
import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { prettyPrint } from '../../traffic/pretty-print.ts';
import { createDraft, type DraftAgent, type OperationModel, type RequestDraft } from './request-draft.ts';
import { parseUrl } from '../../../../../src/primitives/web/parse-url.ts';

/** Headers of the connection, which the HTTP client sets again. */
const connectionHeaders =
  /^(?:host|content-length|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|expect|http2-settings|accept-encoding|grpc-timeout|grpc-accept-encoding|:.*)$/;

/** Returns the agent that a recorded URL belongs to: the one with the longest common path. */
export function findRecordedAgent<Entry extends Pick<AgentEntry, 'url'>>(
  url: string,
  agents: readonly Entry[],
): Entry | undefined {
  const recorded = parseUrl(url);
  if (!recorded) return undefined;
  const { origin, pathname } = recorded;
  const pathOf = (each: Entry): string => new URL(each.url).pathname.replace(/\/$/, '');
  return agents
    .filter((each) => new URL(each.url).origin === origin && pathname.startsWith(pathOf(each)))
    .toSorted((a, b) => pathOf(b).length - pathOf(a).length)[0];
}

/**
 * Creates a draft from a recorded request.
 *
 * @param isOwn - true if the request was sent to this agent: its URL and text are used as recorded. Otherwise the request
 *   is written for the agent.
 * @returns undefined if the record has no request that an agent of the console can receive.
 */
export function draftFromRecord(
  record: TrafficRecord,
  agent: DraftAgent,
  isOwn: boolean,
): RequestDraft | undefined {
  const { http, decoded, text, truncatedBy = 0 } = record;
  const target = targetOf(record, agent);
  const isComplete = truncatedBy === 0;
  if (http && isOwn && (isComplete || decoded?.model === undefined))
    return {
      ...target,
      agentId: agent.id,
      method: http.method === 'GET' || http.method === 'DELETE' ? http.method : 'POST',
      url: http.url,
      headers: Object.entries(http.headers)
        .filter(([name]) => !connectionHeaders.test(name))
        .map(([name, value]) => ({ name, value })),
      body: prettyPrint(text).text,
      hasCredentials: true,
    };
  if (decoded?.model === undefined || !definesOperation(target)) return undefined;
  return createDraft(agent, target, decoded.model as OperationModel);
}

function targetOf({ decoded }: TrafficRecord, { endpoints }: DraftAgent): OperationVariant {
  const { operation = 'send', version = endpoints[0]?.version ?? '1.0', transport } = decoded ?? {};
  const isHttp = transport === 'JSONRPC' || transport === 'HTTP+JSON' || transport === 'GRPC';
  return {
    operation: operation === 'card' ? 'extendedCard' : operation,
    version,
    transport: isHttp ? transport : 'JSONRPC',
  };
}
