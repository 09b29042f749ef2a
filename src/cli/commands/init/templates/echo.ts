import type { ProjectTemplate } from './project-template.ts';

/** An agent that needs no model: it echoes words and asks a question. */
export const echoTemplate: ProjectTemplate = {
  agent: (name) => agentFile(name),
  files: () => ({}),
  scenarios: () => scenarioFile,
  conformance: `# Prompts for dragoman conformance: a message for each target state.
completed: one two three
artifact: one two three
chunks: one two three
input-required: greet me
`,
  example: 'one two three',
  dependencies: {},
  node: '>=20.19.0',
  notes: () => [],
};

const agentFile = (name: string): string => `import { defineAgent, status, textOf } from 'dragoman';

export default defineAgent({
  name: '${name}',
  description: 'Echoes messages word by word and greets users by name',
  version: '0.1.0',
  skills: [
    {
      id: 'echo',
      name: 'Echo',
      description: 'Echoes a message word by word',
      tags: ['echo', 'streaming'],
      examples: ['one two three'],
    },
    {
      id: 'greet',
      name: 'Greet',
      description: 'Asks for your name and greets you',
      tags: ['greeting', 'question'],
      examples: ['greet me'],
    },
  ],
  async *process({ text, ask, signal }) {
    if (/^\\s*greet\\b/i.test(text)) {
      // The task is input-required until the client sends a reply.
      const answer = await ask('What is your name?');
      yield \`Nice to meet you, \${textOf(answer.parts).trim()}.\`;
      return;
    }
    const words = text.split(/\\s+/).filter(Boolean);
    yield status('working', 'Counting words.');
    for (const word of words) {
      // The task was canceled.
      if (signal.aborted) return;
      // Each word is a chunk of one artifact; streaming clients receive it immediately.
      yield \`\${word} \`;
    }
    yield status('completed', \`That was \${words.length === 1 ? '1 word' : \`\${words.length} words\`}.\`);
  },
});
`;

const scenarioFile = `# yaml-language-server: $schema=../node_modules/dragoman/schemas/conversation.schema.json
- scenario: echoes words
  description: The agent echoes the message and counts its words.
  steps:
    - say: one two three
      expect:
        state: completed
        message: That was 3 words.

- scenario: greets by name
  description: The agent requests the name before it greets the user.
  steps:
    - say: greet me
      expect: { state: input-required, message: { contains: your name } }
    - say: Ada
      expect: { state: completed, text: 'Nice to meet you, Ada.' }
`;
