/**
 * Shows any agent over HTTP: JSON-RPC, REST and server-sent events, every version on one port.
 *
 * @module
 */
export { type NodeOptions, type RunningServer, serve } from './node/serve.ts';
export type { TlsOptions } from './node/tls.ts';
export type { ServerOptions } from './server-options.ts';
export type { Limits, Rate } from './limits/limits.ts';
export type { MetricsOptions } from './telemetry/metrics-endpoint.ts';
// For those who bring their own server.
export { HttpFace } from './http/agent-http-handler.ts';
export { nodeListener } from './node/serve.ts';
export type { Caller, Exchange, Reply } from './http/http-message.ts';
export type { WireEnd, WireListener, WireWatch } from './telemetry/traffic-observer.ts';
