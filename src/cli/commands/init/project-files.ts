/** Returns the files of a new agent project by path. */
export function buildProjectFiles(name: string, version: string): { readonly [path: string]: string } {
  return {
    'package.json': packageFile(name, version),
    'agent.js': agentFile(name),
    'scenarios/agent.yaml': scenarioFile(name),
    'conformance.yaml': conformanceFile,
    '.github/workflows/agent.yml': workflowFile(),
    'README.md': readmeFile(name),
    '.gitignore': 'node_modules/\nconformance/\n',
  };
}

function packageFile(name: string, version: string): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19.0' },
    scripts: {
      start: 'dragoman serve agent.js',
      test: 'dragoman test scenarios --agent agent.js',
      conformance:
        'dragoman conformance http://127.0.0.1:4000 --prompts conformance.yaml --report-dir conformance',
    },
    dependencies: { dragoman: `^${version}` },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

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

const conformanceFile = `# Prompts for dragoman conformance: a message for each target state.
completed: one two three
artifact: one two three
chunks: one two three
input-required: greet me
`;

const workflowFile = (): string => `name: agent
on: [push, pull_request]
permissions:
  contents: read
jobs:
  agent:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install
      - run: npm test
      - name: conformance
        run: |
          npm start -- --port 4000 &
          curl --silent --fail --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:4000/readyz
          npm run conformance
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: conformance, path: conformance, if-no-files-found: ignore }
`;

const readmeFile = (name: string): string => `# ${name}

An A2A agent built with [Dragoman](https://www.npmjs.com/package/dragoman).

\`\`\`sh
npm install
npm test          # runs scenarios/ against agent.js
npm start         # serves agent.js at http://127.0.0.1:4000, in all A2A versions
\`\`\`

While it runs:

\`\`\`sh
npx dragoman send -a http://127.0.0.1:4000 "one two three"
npx dragoman chat -a http://127.0.0.1:4000
npm run conformance                                # tests it for A2A conformance
\`\`\`

- \`agent.js\` is the agent.
- \`scenarios/\` contains the scenario tests.
- \`conformance.yaml\` contains prompts for the conformance suite.
- \`.github/workflows/agent.yml\` runs the scenarios and the conformance suite on every push.
`;
