/**
 * Many agents under one host and on a mesh: agents at URLs with their credentials, breakers, health and metrics, and a
 * file that says it all.
 *
 * @module
 */
export { Breaker, type BreakerOptions, type BreakerState, withBreaker } from './middleware/circuit-breaker.ts';
export { readGatewayConfig } from './config/read-gateway-config.ts';
export { gatewayJsonSchema } from './config/gateway-schema.ts';
export { type ErrorClass, errorClassOf } from './middleware/error-classification.ts';
export { createGateway, type Gateway, type GatewayOptions, type ShownAgent } from './gateway.ts';
export { type HealthWatch, type HealthWatchOptions, watchHealth } from './agents/health-monitor.ts';
export { withOwnedTasks } from './middleware/task-ownership.ts';
export type { Authentication, ProxiedAgent } from './config/proxied-agent-schema.ts';
export { type PublicCardOptions, withPublicCard } from './middleware/public-card.ts';
export { type Reloaded, runGateway, type RunningGateway, type RunOptions } from './run-gateway.ts';
export type { AgentSettings, AgentSource, GatewaySettings, MeshSettings } from './gateway-settings.ts';
export { type Health, type Upstream, upstreamOf, type UpstreamTools } from './agents/upstream.ts';
export { UpstreamMetrics, upstreamMetricNames, withUpstreamMetrics } from './middleware/upstream-metrics.ts';
