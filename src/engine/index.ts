/**
 * Agents that run here: a function, its tasks and their life cycle.
 *
 * @module
 */
export { type Clock, systemClock } from './interval-clock.ts';
export type { ProcessContext } from './process-context.ts';
export type { AgentDefinition, AgentOptions, LogEntry, Process, SkillDraft } from './agent-definition.ts';
export { defineAgent, type LocalAgent } from './local-agent.ts';
export {
  type ArtifactDraft,
  type ArtifactOutput,
  artifact,
  chunk,
  type Output,
  type Result,
  type Saying,
  type StatusOutput,
  status,
} from './agent-output.ts';
