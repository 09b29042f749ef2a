import type { AgentDefinition } from '../../engine/agent-definition.ts';

/** What a test agent says of itself; what is left out is filled in. */
export type CardDraft = Partial<Omit<AgentDefinition, 'process' | 'resume' | 'mayAnswerDirectly'>>;
