import { compositeKey } from '../../primitives/composite-key.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { CallPolicy } from '../../server/auth/call-policy.ts';
import type { MeshCall } from '../../mesh/server/mesh-server-options.ts';
import { measureRequest } from './measure-request.ts';
import { Policy, type PolicyKind, type PolicyQuestion } from './policy.ts';
import type { PolicyCounters } from './policy-counters.ts';
import { policyError } from './policy-error.ts';
import type { PolicyMetrics } from './policy-metrics.ts';
import { policyOperationName } from './policy-operations.ts';
import {
  type CallLimit,
  type PolicySettings,
  type PolicyTransport,
  policyTransports,
} from './policy-settings.ts';

/** Collaborators of {@link PolicyEnforcer}. They outlive a policy. */
export interface PolicyContext {
  readonly counters: PolicyCounters;
  readonly metrics: PolicyMetrics | undefined;
  readonly log: LogSink;
}

/** Enforces the policy of a gateway on all its transports. */
export class PolicyEnforcer {
  readonly #policy: Policy;
  readonly #file: string;
  readonly #context: PolicyContext;

  constructor(settings: PolicySettings, file: string, context: PolicyContext) {
    this.#policy = new Policy(settings);
    this.#file = file;
    this.#context = context;
  }

  /** Returns the policy of an agent, for its HTTP server. */
  httpPolicy(agent: string): CallPolicy {
    return {
      check: (call) => {
        const { operation, principal, client, tenant, transport, request } = call;
        const question: PolicyQuestion = {
          agent,
          operation,
          caller: { principal, isMeshUser: false },
          tenant,
          versions: call.versions.map(policyVersion),
          transport,
          size: measureRequest(request, call),
        };
        return this.#check(
          question,
          principal ? identityKey(principal) : compositeKey('address', client),
          request,
        );
      },
      offers: ({ protocolBinding, protocolVersion }, principal) => {
        const transport = policyTransports.find((each) => each === protocolBinding);
        if (!transport) return true;
        const versions = [policyVersion(protocolVersion as ProtocolVersion)];
        return this.#policy.offers({ agent, caller: { principal, isMeshUser: false }, versions, transport });
      },
    };
  }

  /** Checks a request of a mesh. @throws A2AError if it is denied. */
  checkMesh(agent: string, { operation, user, version, request, bytes }: MeshCall): Promise<void> {
    const question: PolicyQuestion = {
      agent,
      operation,
      caller: { principal: { id: user }, isMeshUser: true },
      tenant: undefined,
      versions: [policyVersion(version)],
      transport: 'mesh',
      size: measureRequest(request, { bytes }),
    };
    return this.#check(question, compositeKey('mesh', user), request);
  }

  /** Returns true if a client finds an agent in the catalog. */
  isVisible(agent: string, principal: Principal | undefined): boolean {
    const caller = { principal, isMeshUser: false };
    return this.#policy.decide({ ...cardQuestion, agent, caller }).isAllowed;
  }

  /** @param callerKey - identifies the caller in counters. */
  async #check(question: PolicyQuestion, callerKey: string, request: unknown): Promise<void> {
    const decision = this.#policy.decide(question);
    if (!decision.isAllowed) throw this.#denied(question, decision.kind, decision.decidedBy);
    if (registersWebhook(question, request)) {
      const { isAllowed, kind, decidedBy } = this.#policy.decide({
        ...question,
        operation: 'createPushConfig',
      });
      if (!isAllowed) throw this.#denied(question, kind, decidedBy);
    }
    const { counters, metrics } = this.#context;
    const counted = decision.limits.filter(({ rate, quota }) => rate || quota);
    if (counted.length > 0) {
      const keyed = counted.map((limit) => ({ limit, key: countKey(limit, question, callerKey) }));
      const exceeded = await counters.take(keyed, (limit, used) =>
        metrics?.recordQuota(limit.name, used, limit.quota?.requests ?? used),
      );
      if (exceeded) throw this.#denied(question, exceeded.kind, exceeded.limit, exceeded.retryAfter);
    }
    metrics?.countDecision(question.agent, policyOperationName(question.operation), true, 'access');
  }

  #denied(
    { agent, operation, caller, transport }: PolicyQuestion,
    kind: PolicyKind,
    decidedBy: ReturnType<Policy['decide']>['decidedBy'],
    retryAfter?: number,
  ) {
    const { metrics, log } = this.#context;
    const name = policyOperationName(operation);
    metrics?.countDecision(agent, name, false, kind);
    const line = typeof decidedBy === 'string' ? this.#policy.settings.line : decidedBy.line;
    const { id = 'anonymous' } = caller.principal ?? {};
    log({
      level: 'warn',
      message: `${agent}: the policy denied ${name} (${kind}, ${this.#file}:${line})`,
      fields: { agent, operation: name, kind, principal: caller.isMeshUser ? `mesh:${id}` : id, transport },
    });
    return policyError(kind, retryAfter);
  }
}

const cardQuestion = {
  operation: 'card',
  tenant: undefined,
  versions: [],
  transport: 'HTTP+JSON' as PolicyTransport,
  size: { bytes: 0, parts: 0, fileBytes: 0 },
} as const;

/** 0.2 and 0.3 have the same format, so that they cannot be told apart. */
function policyVersion(version: ProtocolVersion): ProtocolVersion {
  return version === '0.2' ? '0.3' : version;
}

/** A message may register a webhook, as `create_push` does. */
function registersWebhook({ operation }: PolicyQuestion, request: unknown): boolean {
  const isMessage = operation === 'send' || operation === 'stream';
  return isMessage && (request as SendRequest).configuration?.pushConfig !== undefined;
}

function identityKey({ id, issuer }: Principal): string {
  return compositeKey('principal', issuer ?? '', id);
}

function countKey({ countBy }: CallLimit, { tenant }: PolicyQuestion, callerKey: string): string {
  if (countBy === 'all') return '';
  return countBy === 'tenant' ? (tenant ?? '') : callerKey;
}
