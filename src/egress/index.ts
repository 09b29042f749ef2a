/**
 * SSRF protection: one policy decides which URLs supplied by peers (cards, calls, webhooks, files) may be fetched, and
 * connections go only to checked addresses.
 *
 * @module
 */
export type { HttpMethod } from './send-once.ts';
export type { HeaderMap } from './headers.ts';
export type { EgressOptions, EgressPurpose, EgressDenial, DnsResolver } from './egress-options.ts';
export { type EgressLimits, type EgressPolicy, egressPolicy } from './egress-policy.ts';
export type { PortRange } from './rules/ports.ts';
export { type EgressRequest, type EgressResponse, egressRequest } from './egress-request.ts';
