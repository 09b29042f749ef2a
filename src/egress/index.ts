/**
 * What may be fetched because a peer said so: cards, calls, webhooks and files. One policy decides, and connections
 * go only where it looked.
 *
 * @module
 */
export type { Method } from './send-once.ts';
export type { Headers } from './headers.ts';
export type { EgressOptions, Purpose, Refusal, Resolve } from './egress-options.ts';
export { type EgressLimits, type EgressPolicy, egressPolicy } from './egress-policy.ts';
export type { PortRange } from './rules/ports.ts';
export { type GuardedRequest, type GuardedResponse, guardedRequest } from './egress-request.ts';
