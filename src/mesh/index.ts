/**
 * A2A over a broker: links, agents shown on the mesh, and agents that live there.
 *
 * @module
 */
export { displayNameOf } from './mesh-card.ts';
export {
  type MeshDirectory,
  meshDirectory,
  type MeshDirectoryOptions,
  type MeshPeer,
} from './mesh-directory.ts';
export {
  type BatchOptions,
  type MeshFace,
  type MeshFaceOptions,
  type MeshLimits,
  type MeshLossContext,
  type MeshTimeouts,
  showOnMesh,
} from './server/serve-on-mesh.ts';
export type {
  Delivery,
  Link,
  LinkState,
  Properties,
  Property,
  SubscribeOptions,
  Subscription,
} from './brokers/broker-connection.ts';
export { MemoryBroker } from './brokers/memory/memory-broker.ts';
export { type MemoryLink, memoryLink, type MemoryLinkOptions } from './brokers/memory/connect-memory.ts';
export type { MqttLinkOptions } from './brokers/mqtt/mqtt-options.ts';
export { mqttLink } from './brokers/mqtt/connect-mqtt.ts';
export { natsLink, type NatsLinkOptions } from './brokers/nats/connect-nats.ts';
export { openLink, type OpenLinkOptions } from './brokers/connect-broker.ts';
export { meshSessionOf } from './mesh-session.ts';
export { meshAgent, type MeshAgentOptions, type MeshAgentTimeouts } from './client/mesh-agent.ts';
