/**
 * What may be fetched because a peer said so: cards, calls, webhooks and files. One policy decides, and connections
 * go only where it looked.
 *
 * @module
 */
export type { Method } from './exchange.ts';
export type { Headers } from './headers.ts';
export type { EgressOptions, Purpose, Refusal, Resolve } from './options.ts';
export { type EgressLimits, type EgressPolicy, egressPolicy } from './policy.ts';
export type { PortRange } from './judge/ports.ts';
export { type GuardedRequest, type GuardedResponse, guardedRequest } from './request.ts';
