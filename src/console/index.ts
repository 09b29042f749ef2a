/**
 * The console: a page that shows agents, what they say and what passes between them, and the server behind it.
 *
 * @module
 */
export type { InitialAgent } from './agents/agent-registry.ts';
export type * from './console-api.ts';
export { type ConsoleOptions, type RunningConsole, serveConsole } from './serve-console.ts';
