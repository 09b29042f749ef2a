import type { ProjectTemplate } from './project-template.ts';

/** An agent that needs no model: it echoes words and asks a question. */
export const echoTemplate: ProjectTemplate = {
  agent: (name) => agentFile(name),
  files: () => ({}),
  scenarios: (name) => scenarioFile(name),
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

const scenarioFile = (
  name: string,
): string => `# yaml-language-server: $schema=../node_modules/dragoman/schemas/scenario.schema.json
- test_case_id: echoes-words
  description: The agent echoes the message and counts its words.
  skip_intermediate_events: true
  gateway_input:
    target_agent_name: ${name}
    parts: [{ type: text, text: one two three }]
  expected_gateway_output:
    - type: final_response
      task_state: completed
      content_parts: [{ type: text, text_exact: That was 3 words. }]

- test_case_id: asks-for-the-name
  description: The agent requests the name before it greets the user.
  gateway_input:
    target_agent_name: ${name}
    is_streaming: false
    parts: [{ type: text, text: greet me }]
  expected_gateway_output:
    - type: final_response
      task_state: input-required
      content_parts: [{ type: text, text_contains: your name }]
`;
