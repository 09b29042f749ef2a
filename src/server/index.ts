/**
 * Serves any agent over HTTP: JSON-RPC, REST, server-sent events and gRPC, all versions on one port.
 *
 * @module
 */
export { type ServeOptions, type RunningServer, serve } from './node/serve.ts';
export { type NodeHandler, toNodeHandler } from './node/to-node-handler.ts';
export { type FetchHandler, toFetchHandler } from './fetch.ts';
export type { MountedMessage } from './node/mounted-url.ts';
export type { MountedAgent } from './lifecycle/agent-lifecycle.ts';
export type { DrainOptions } from './lifecycle/drain.ts';
export type { TlsOptions } from './node/tls.ts';
export type { GrpcOptions } from './grpc/grpc-options.ts';
export type { CallPolicy, PolicyCall } from './auth/call-policy.ts';
export type { CorsOptions, ServerOptions } from './server-options.ts';
export type { ServerLimits, RateLimit } from './limits/limits.ts';
export type { MetricsOptions } from './telemetry/metrics-endpoint.ts';
// For integration into other servers.
export { AgentHttpHandler } from './http/agent-http-handler.ts';
export type { AuthenticationResult, HttpServerRequest, HttpServerResponse } from './http/http-message.ts';
export type { TrafficEnd, TrafficListener, TrafficObserver } from './telemetry/traffic-observer.ts';
