/**
 * Records the traffic between agents: recorders for HTTP clients, servers and brokers, a bounded traffic log, decoding of
 * the recorded content, and a recording proxy.
 *
 * @module
 */
export { toCurl } from './to-curl.ts';
export { readTrafficFile, writeTrafficFile } from './traffic-file.ts';
export type {
  TrafficTransport,
  HttpMessageInfo,
  DecodedContent,
  MeshMessageInfo,
  TrafficRecord,
  TrafficRecordKind,
} from './traffic-record.ts';
export type { TrafficRecorderOptions } from './recorders/traffic-recorder.ts';
export {
  readRecording,
  type ReadRecordingOptions,
  type RecordedAnswer,
  type RecordedError,
  type RecordedExchange,
  type Recording,
  type TimedEvent,
} from './recording.ts';
export { runTap, type RunningTap, type RunTapOptions } from './proxy/run-tap.ts';
export { formatHar } from './har/write-har.ts';
export { readHar } from './har/read-har.ts';
export { exportScenario } from './scenario/export-scenario.ts';
export { TrafficLog, type TrafficLogOptions } from './traffic-log.ts';
export { tapHttpClient, type TapHttpClientOptions } from './recorders/tap-http-client.ts';
export { tapBroker, type TapBrokerOptions } from './recorders/tap-broker.ts';
export { tapServer, type TapServerOptions } from './recorders/tap-server.ts';
