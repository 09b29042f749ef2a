import { answer, type AgentCommand } from './agent-commands.ts';
import type { Persona } from './official-servers.ts';

const steps = Array.from({ length: 8 }, (_, i): AgentCommand[] => [
  { state: 'working', text: `Step ${i}` },
  { wait: 400 },
]).flat();
const chunks = Array.from(
  { length: 6 },
  (_, i): AgentCommand => ({ chunk: `chunk ${i + 1};`, append: i > 0, last: i === 5 }),
);

/** Returns the commands for a text of the fixtures. */
function plan(text: string, isFollowUp: boolean): AgentCommand[] {
  const [, word = 'complete'] = /fx:(\w+)/.exec(text) ?? [];
  const done = answer(`Done: ${text}`);
  const commands: { readonly [word: string]: AgentCommand[] } = {
    message: [{ message: 'A direct answer' }],
    slow: [...steps, ...done],
    chunks: [{ state: 'working' }, ...chunks, { state: 'completed' }],
    input: [{ state: 'working' }, { state: 'input-required', text: 'Which one?' }],
    auth: [{ state: 'working' }, { state: 'auth-required', text: 'Please log in' }],
    fail: [{ state: 'working' }, { state: 'failed', text: 'It went wrong' }],
    reject: [{ state: 'rejected', text: 'No' }],
    echo: [{ state: 'working' }, { echo: true }, { state: 'completed' }],
  };
  return (isFollowUp ? undefined : commands[word]) ?? [{ state: 'working' }, ...done];
}

/**
 * An agent that is controlled by the texts of the fixtures. A violation on an official SDK is an error of the SDK, of this
 * plan or of the suite.
 */
export const fixtures: Persona = {
  name: 'Fixtures',
  description: 'Does what a text of the fixtures says',
  skill: {
    id: 'fixtures',
    name: 'Fixtures',
    description: 'Obeys the texts of the fixtures',
    tags: ['test'],
    examples: ['fx:complete'],
  },
  alsoTakes: ['application/json'],
  plan,
};
