/**
 * Shows any agent over HTTP: JSON-RPC, REST and server-sent events, every version on one port.
 *
 * @module
 */
export { type NodeOptions, type RunningServer, serve } from './node.ts';
export type { TlsOptions } from './tls.ts';
export type { ServerOptions } from './options.ts';
export type { Limits, Rate } from './limits.ts';
export type { MetricsOptions } from './metrics-page.ts';
// For those who bring their own server.
export { HttpFace } from './handler.ts';
export { nodeListener } from './node.ts';
export type { Caller, Exchange, Reply } from './exchange.ts';
export type { WireEnd, WireListener, WireWatch } from './wire.ts';
