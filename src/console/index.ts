/**
 * The console: a web page with the agents, their messages and the recorded traffic, and the server of this page.
 *
 * @module
 */
export type { InitialAgent } from './agents/agent-registry.ts';
export type * from './console-api.ts';
export { type ConsoleOptions, type RunningConsole, serveConsole } from './serve-console.ts';
