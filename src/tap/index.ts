/**
 * Sees what passes between agents: recorders around clients, servers and links, a tape that keeps it, what it means, and
 * a transparent recorder between any two agents.
 *
 * @module
 */
export { curlOf } from './to-curl.ts';
export { readTapFile, writeTapFile } from './traffic-file.ts';
export type { Binding, HttpPart, Meaning, MeshPart, Passage, PassageKind } from './traffic-record.ts';
export type { RecorderOptions } from './recorders/traffic-recorder.ts';
export { runTap, type RunningTap, type RunTapOptions } from './proxy/run-tap.ts';
export { scenarioOf } from './scenario/export-scenario.ts';
export { Tape, type TapeOptions } from './traffic-log.ts';
export { tappedHttp, type TappedHttpOptions } from './recorders/tap-http-client.ts';
export { tappedLink, type TappedLinkOptions } from './recorders/tap-broker.ts';
export { tappedServer, type TappedServerOptions } from './recorders/tap-server.ts';
