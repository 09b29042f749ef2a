/**
 * A2A over a broker: links, agents shown on the mesh, and agents that live there.
 *
 * @module
 */
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
