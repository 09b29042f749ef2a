import type { AgentDefinition } from '../../engine/agent-definition.ts';

/** Fields of the card of a test agent; missing fields get default values. */
export type CardDraft = Partial<Omit<AgentDefinition, 'process' | 'resume' | 'mayAnswerDirectly'>>;
