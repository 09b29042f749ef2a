/**
 * What may be fetched because a peer said so: cards, calls, webhooks and files. One policy decides, and connections
 * go only where it looked.
 *
 * @module
 */
export type { HttpMethod } from './send-once.ts';
export type { HeaderMap } from './headers.ts';
export type { EgressOptions, EgressPurpose, EgressDenial, DnsResolver } from './egress-options.ts';
export { type EgressLimits, type EgressPolicy, egressPolicy } from './egress-policy.ts';
export type { PortRange } from './rules/ports.ts';
export { type EgressRequest, type EgressResponse, egressRequest } from './egress-request.ts';
