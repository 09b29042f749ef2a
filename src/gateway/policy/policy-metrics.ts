import type { Registry } from '../../metrics/registry.ts';
import type { PolicyKind } from './policy.ts';
import type { PolicyOperationName } from './policy-operations.ts';

/** Names, labels and help texts of the metrics of a policy. Labels are names of the gateway file. */
const policyMetricNames = {
  decisions: {
    name: 'dragoman_gateway_policy_decisions_total',
    help: 'Decisions of the policy; kind is access, version, transport, size, rate or quota.',
    labels: ['agent', 'operation', 'result', 'kind'],
  },
  quotaRequests: {
    name: 'dragoman_gateway_policy_quota_requests_total',
    help: 'Requests that were counted for a quota.',
    labels: ['limit'],
  },
  quotaUsed: {
    name: 'dragoman_gateway_policy_quota_used_ratio',
    help: 'Used part of a quota after its last request, from 0 to 1, of the caller that sent it.',
    labels: ['limit'],
  },
} as const;

/** Metrics of the policy of a gateway. */
export class PolicyMetrics {
  readonly #decisions;
  readonly #quotaRequests;
  readonly #quotaUsed;

  constructor(registry: Registry) {
    this.#decisions = registry.counter(policyMetricNames.decisions);
    this.#quotaRequests = registry.counter(policyMetricNames.quotaRequests);
    this.#quotaUsed = registry.gauge(policyMetricNames.quotaUsed);
  }

  countDecision(agent: string, operation: PolicyOperationName, isAllowed: boolean, kind: PolicyKind): void {
    this.#decisions.of(agent, operation, isAllowed ? 'allowed' : 'denied', kind).add();
  }

  recordQuota(limit: string, used: number, requests: number): void {
    this.#quotaRequests.of(limit).add();
    this.#quotaUsed.of(limit).set(used / requests);
  }
}
