import { rpcMethodName } from '../../dialects/dialect.ts';
import { dialectForMethod, dialectForVariant } from '../../dialects/negotiation.ts';
import type { Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { GatewaySettings } from '../gateway-settings.ts';
import { authenticatesClients } from '../config/tls-files.ts';
import { Policy, type PolicyCaller, type PolicyDecision, type PolicyKind } from './policy.ts';
import { operationsByName, type PolicyOperationName } from './policy-operations.ts';
import type { CallLimit, PolicyTransport } from './policy-settings.ts';

/** A call to explain. */
export interface ExplainedCall {
  readonly agent: string;
  readonly operation: PolicyOperationName;
  readonly caller: PolicyCaller;
  readonly tenant: string | undefined;
  readonly version: ProtocolVersion;
  readonly transport: PolicyTransport;
  readonly bytes: number;
  readonly parts: number;
  readonly fileBytes: number;
}

/** What the gateway decides about a call, and why. */
export interface PolicyExplanation {
  readonly agent: string;
  readonly operation: PolicyOperationName;
  readonly result: 'allowed' | 'denied';
  /** `authentication` if the gateway rejects a call without credentials before it asks the policy. */
  readonly kind: PolicyKind | 'authentication' | 'none';
  /** Text of the rule that decided. */
  readonly reason: string;
  /** Place of the rule, as `file:line`; undefined if the file has no policy. */
  readonly place: string | undefined;
  readonly limits: readonly { readonly name: string; readonly place: string; readonly text: string }[];
}

/** Explains what a gateway decides about a call, by the code that decides when it runs. Rates and quotas are not counted. */
export function explainCall(settings: GatewaySettings, call: ExplainedCall): PolicyExplanation {
  const { agent, operation, caller } = call;
  const { file, auth, policy } = settings;
  const answer = (
    decided: Pick<PolicyExplanation, 'result' | 'kind' | 'reason'> & Partial<PolicyExplanation>,
  ): PolicyExplanation => ({ agent, operation, place: undefined, limits: [], ...decided });
  const needsCredentials = authenticatesClients(settings) && !auth?.optional && call.transport !== 'mesh';
  if (!caller.principal && needsCredentials && operation !== 'card')
    return answer({ result: 'denied', kind: 'authentication', reason: 'auth requires credentials' });
  if (!policy) return answer({ result: 'allowed', kind: 'none', reason: 'the file has no policy' });
  const decision = new Policy(policy).decide({
    ...call,
    operation: operationsByName[operation][0],
    tenant: namesTenant(call) ? call.tenant : undefined,
    versions: versionsOf(call),
    size: call,
  });
  const { decidedBy } = decision;
  return answer({
    result: decision.isAllowed ? 'allowed' : 'denied',
    kind: decision.kind,
    reason: formatReason(decision) + (call.tenant === undefined || namesTenant(call) ? '' : tenantNote(call)),
    place: `${file}:${typeof decidedBy === 'string' ? policy.line : decidedBy.line}`,
    limits: decision.limits.map((limit) => ({
      name: limit.name,
      place: `${file}:${limit.line}`,
      text: formatLimit(limit),
    })),
  });
}

/** Requests before 1.0 and those of a mesh have no tenant. */
function namesTenant({ version, transport }: ExplainedCall): boolean {
  return version === '1.0' && transport !== 'mesh';
}

function tenantNote({ version, transport }: ExplainedCall): string {
  return `; the tenant is ignored, because requests ${transport === 'mesh' ? 'on a mesh' : `of ${version}`} name none`;
}

/** Returns the versions of which a request may be: some JSON-RPC methods of 0.3 and 0.1 have the same name. */
function versionsOf({ version, transport, operation }: ExplainedCall): readonly ProtocolVersion[] {
  const served = version === '0.2' ? '0.3' : version;
  const [called] = operationsByName[operation];
  const dialect = transport === 'JSONRPC' ? dialectForVariant(served, transport) : undefined;
  const method = dialect && called !== 'card' ? rpcMethodName(dialect, called) : undefined;
  if (served === '1.0' || method === undefined || !dialectForMethod(method, undefined).ambiguous)
    return [served];
  return ['0.3', '0.1'];
}

/** Returns the scopes that a static token or key in the file gives a client. */
export function scopesInFile({ auth }: GatewaySettings, id: string): Principal['scopes'] {
  const holders = [...(auth?.bearer ?? []), ...(auth?.api_keys?.keys ?? [])];
  return holders.find(({ principal }) => principal === id)?.scopes;
}

function formatReason({ decidedBy, kind, isAllowed }: PolicyDecision): string {
  if (decidedBy === 'visible') return 'the caller may call another operation of the agent';
  if (decidedBy === 'default') return `no rule matches; the default is ${isAllowed ? 'allow' : 'deny'}`;
  return 'effect' in decidedBy ? `rule: ${decidedBy.effect}` : `limit ${decidedBy.name}: ${kind}`;
}

function formatLimit(limit: CallLimit): string {
  const { versions, transports, requestBytes, parts, fileBytes, rate, quota, countBy } = limit;
  const counted = `by ${countBy}`;
  return [
    versions && `versions ${versions.join(', ')}`,
    transports && `transports ${transports.join(', ')}`,
    requestBytes !== undefined && `at most ${requestBytes} bytes`,
    parts !== undefined && `at most ${parts} parts`,
    fileBytes !== undefined && `files of at most ${fileBytes} bytes`,
    rate && `${rate.perSecond} requests per second, ${rate.burst} at once, ${counted}`,
    quota && `${quota.requests} requests per ${quota.per}, ${counted}`,
  ]
    .filter(Boolean)
    .join('; ');
}
