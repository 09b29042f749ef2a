/**
 * Agents implemented by a process function, with tasks and their life cycle.
 *
 * @module
 */
export { type Clock, systemClock } from '../primitives/clock.ts';
export type { ProcessContext } from './process-context.ts';
export type { HistoryLimits } from './messages/context-history.ts';
export type {
  AgentDefinition,
  AgentOptions,
  LogEntry,
  ProcessFunction,
} from './agent-definition.ts';
export { defineSkill, type SkillDefinition } from './skills/define-skill.ts';
export type { StandardSchema } from './skills/standard-schema.ts';
export { defineAgent, type LocalAgent } from './local-agent.ts';
export {
  type ArtifactDraft,
  type ArtifactOutput,
  artifact,
  chunk,
  type AgentOutput,
  type AgentResult,
  type MessageContent,
  type StatusOutput,
  status,
} from './agent-output.ts';
