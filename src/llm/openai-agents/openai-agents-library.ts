import { loadLibrary } from '../../protocol/optional/load-library.ts';
import type { OpenAiAgentsRun } from './from-openai-agents.ts';

/** The parts of the package `@openai/agents` that are used. */
interface OpenAiAgentsLibrary {
  readonly run: (
    agent: object,
    input: object[],
    options: { stream: true; signal: AbortSignal },
  ) => Promise<OpenAiAgentsRun>;
  readonly tool: (options: {
    name: string;
    description: string;
    parameters: object;
    strict: false;
    execute(input: unknown, context: unknown, details?: { readonly signal?: AbortSignal }): Promise<string>;
  }) => object;
}

/** Loads the SDK. @throws A2AError `UNAVAILABLE` if it is not installed */
export function loadOpenAiAgents(what: string): Promise<OpenAiAgentsLibrary> {
  return loadLibrary(
    what,
    '@openai/agents',
    // @ts-ignore -- not installed in this repository: its current version does not support Node 20
    () => import('@openai/agents') as Promise<OpenAiAgentsLibrary>,
  );
}
