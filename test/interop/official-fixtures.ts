import { answer, type Deed } from './agent-commands.ts';
import type { Persona } from './official-servers.ts';

const steps = Array.from({ length: 8 }, (_, i): Deed[] => [
  { state: 'working', said: `Step ${i}` },
  { wait: 400 },
]).flat();
const chunks = Array.from(
  { length: 6 },
  (_, i): Deed => ({ chunk: `chunk ${i + 1};`, append: i > 0, last: i === 5 }),
);

/** What a text of the fixtures leads to. */
function plan(text: string, isFollowUp: boolean): Deed[] {
  const [, word = 'complete'] = /fx:(\w+)/.exec(text) ?? [];
  const done = answer(`Done: ${text}`);
  const deeds: { readonly [word: string]: Deed[] } = {
    message: [{ message: 'A direct answer' }],
    slow: [...steps, ...done],
    chunks: [{ state: 'working' }, ...chunks, { state: 'completed' }],
    input: [{ state: 'working' }, { state: 'input-required', said: 'Which one?' }],
    auth: [{ state: 'working' }, { state: 'auth-required', said: 'Please log in' }],
    fail: [{ state: 'working' }, { state: 'failed', said: 'It went wrong' }],
    reject: [{ state: 'rejected', said: 'No' }],
    echo: [{ state: 'working' }, { echo: true }, { state: 'completed' }],
  };
  return (isFollowUp ? undefined : deeds[word]) ?? [{ state: 'working' }, ...done];
}

/**
 * An agent that obeys the texts of the fixtures. What is found wrong with it on an official SDK is a fault of the SDK, of
 * its plan, or of the suite.
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
