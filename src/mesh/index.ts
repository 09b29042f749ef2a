/**
 * A2A over a broker: links, agents shown on the mesh, and agents that live there.
 *
 * @module
 */
export { displayNameOf } from './card.ts';
export {
  type MeshDirectory,
  meshDirectory,
  type MeshDirectoryOptions,
  type MeshPeer,
} from './discovery.ts';
export {
  type BatchOptions,
  type MeshFace,
  type MeshFaceOptions,
  type MeshLimits,
  type MeshLossContext,
  type MeshTimeouts,
  showOnMesh,
} from './face.ts';
export type {
  Delivery,
  Link,
  LinkState,
  Properties,
  Property,
  SubscribeOptions,
  Subscription,
} from './link.ts';
export { MemoryBroker } from './memory-broker.ts';
export { type MemoryLink, memoryLink, type MemoryLinkOptions } from './memory-link.ts';
export type { MqttLinkOptions } from './mqtt/options.ts';
export { mqttLink } from './mqtt-link.ts';
export { natsLink, type NatsLinkOptions } from './nats-link.ts';
export { openLink, type OpenLinkOptions } from './open-link.ts';
export { meshSessionOf } from './session.ts';
export { meshAgent, type MeshAgentOptions, type MeshAgentTimeouts } from './source.ts';
