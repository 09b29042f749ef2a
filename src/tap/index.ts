/**
 * Sees what passes between agents: recorders around clients, servers and links, a tape that keeps it, what it means, and
 * a transparent recorder between any two agents.
 *
 * @module
 */
export { curlOf } from './curl.ts';
export { readTapFile, writeTapFile } from './file.ts';
export type { Binding, HttpPart, Meaning, MeshPart, Passage, PassageKind } from './passage.ts';
export type { RecorderOptions } from './recorder.ts';
export { runTap, type RunningTap, type RunTapOptions } from './proxy/run-tap.ts';
export { scenarioOf } from './scenario.ts';
export { Tape, type TapeOptions } from './tape.ts';
export { tappedHttp, type TappedHttpOptions } from './tapped-http.ts';
export { tappedLink, type TappedLinkOptions } from './tapped-link.ts';
export { tappedServer, type TappedServerOptions } from './tapped-server.ts';
