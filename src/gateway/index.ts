/**
 * Many agents under one host and on a mesh: agents at URLs with their credentials, breakers, health and metrics, and a
 * file that says it all.
 *
 * @module
 */
export { Breaker, type BreakerOptions, type BreakerState, withBreaker } from './breaker.ts';
export { readGatewayConfig } from './config.ts';
export { gatewayJsonSchema } from './config-schema.ts';
export { type ErrorClass, errorClassOf } from './error-class.ts';
export { createGateway, type Gateway, type GatewayOptions, type ShownAgent } from './gateway.ts';
export { type HealthWatch, type HealthWatchOptions, watchHealth } from './health-watch.ts';
export { withOwnedTasks } from './owned-tasks.ts';
export type { Authentication, ProxiedAgent } from './proxied-agent.ts';
export { type PublicCardOptions, withPublicCard } from './public-card.ts';
export { type Reloaded, runGateway, type RunningGateway, type RunOptions } from './run.ts';
export type { AgentSettings, AgentSource, GatewaySettings, MeshSettings } from './settings.ts';
export { type Health, type Upstream, upstreamOf, type UpstreamTools } from './upstream.ts';
export { UpstreamMetrics, upstreamMetricNames, withUpstreamMetrics } from './upstream-metrics.ts';
