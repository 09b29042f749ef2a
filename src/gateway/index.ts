/**
 * Gateway: exposes many agents under one host and on a mesh, with credentials, circuit breakers, health checks and
 * metrics, configured by a file.
 *
 * @module
 */
export {
  CircuitBreaker,
  type CircuitBreakerOptions,
  type CircuitBreakerState,
  withCircuitBreaker,
} from './middleware/circuit-breaker.ts';
export { readGatewayConfig } from './config/read-gateway-config.ts';
export { gatewayJsonSchema } from './config/gateway-schema.ts';
export { type ErrorClass, classifyError } from './middleware/error-classification.ts';
export {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type GatewayEntry,
  type GatewayPolicy,
} from './gateway.ts';
export { type HealthMonitor, type HealthMonitorOptions, monitorHealth } from './agents/health-monitor.ts';
export { type TaskOwnershipOptions, withTaskOwnership } from './ownership/with-task-ownership.ts';
export type { OwnedTask, OwnershipRegister } from './ownership/ownership-register.ts';
export {
  memoryOwnershipRegister,
  type MemoryOwnershipRegisterOptions,
} from './ownership/memory-ownership-register.ts';
export {
  postgresOwnershipRegister,
  type PostgresOwnershipRegisterOptions,
} from './ownership/postgres-ownership-register.ts';
export {
  sqliteOwnershipRegister,
  type SqliteOwnershipRegisterOptions,
} from './ownership/sqlite-ownership-register.ts';
export type { UpstreamAuthentication, ProxiedAgent } from './config/proxied-agent-schema.ts';
export { type PublicCardOptions, withPublicCard } from './middleware/public-card.ts';
export { type ReloadResult, runGateway, type RunningGateway, type RunGatewayOptions } from './run-gateway.ts';
export type {
  AgentSettings,
  AgentSourceSettings,
  GatewaySettings,
  MeshSettings,
} from './gateway-settings.ts';
export {
  type UpstreamHealth,
  type Upstream,
  createUpstream,
  type UpstreamContext,
} from './agents/upstream.ts';
export { UpstreamMetrics, upstreamMetricNames, withUpstreamMetrics } from './middleware/upstream-metrics.ts';
