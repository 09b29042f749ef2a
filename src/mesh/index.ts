/**
 * A2A over a message broker: broker connections, a server adapter for agents, and clients of agents on the mesh.
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
  type MeshServer,
  type MeshCall,
  type MeshServerOptions,
  type MeshServerLimits,
  type MeshLossContext,
  type MeshServerTimeouts,
  serveOnMesh,
} from './server/serve-on-mesh.ts';
export type { MeshRegister, MeshRegisterEntry } from './sharing/mesh-register.ts';
export type {
  MeshMessage,
  BrokerConnection,
  BrokerConnectionState,
  MessageProperties,
  MessageProperty,
  SubscribeOptions,
  Subscription,
} from './brokers/broker-connection.ts';
export { MemoryBroker } from './brokers/memory/memory-broker.ts';
export {
  type MemoryBrokerConnection,
  connectMemoryBroker,
  type MemoryConnectionOptions,
} from './brokers/memory/connect-memory.ts';
export type { MqttOptions } from './brokers/mqtt/mqtt-options.ts';
export { connectMqtt } from './brokers/mqtt/connect-mqtt.ts';
export { connectNats, type NatsOptions } from './brokers/nats/connect-nats.ts';
export { connectBroker, type ConnectBrokerOptions } from './brokers/connect-broker.ts';
export { meshSessionId } from './mesh-session.ts';
export { meshAgent, type MeshAgentOptions, type MeshAgentTimeouts } from './client/mesh-agent.ts';
