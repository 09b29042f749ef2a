import type { ProjectLanguage, ProjectTemplate } from './project-template.ts';

/** An agent that answers with a language model, called by the AI SDK. */
export const aiSdkTemplate: ProjectTemplate = {
  agent: (name, extension) => agentFile(name, extension),
  files: (language, extension) => ({ [`model.${extension}`]: modelFile(language) }),
  scenarios: () => scenarioFile,
  conformance: `# Prompts for dragoman conformance: a message for each target state.
completed: Say hello.
artifact: Say hello.
chunks: Say hello.
`,
  example: 'Say hello.',
  dependencies: { ai: '^7.0.0', '@ai-sdk/openai-compatible': '^3.0.0' },
  node: '>=22.0.0',
  notes: (extension) => [
    `- \`model.${extension}\` selects the model: set \`MODEL_URL\` to the URL of an OpenAI-compatible API (such as https://api.openai.com/v1),`,
    '  `MODEL_NAME` and `MODEL_API_KEY`. Without `MODEL_URL`, a mock model answers, so that the tests need no model.',
  ],
};

const agentFile = (name: string, extension: string): string => `${[
  "import { ToolLoopAgent } from 'ai';",
  "import { defineAgent } from 'dragoman';",
  "import { fromAiSdk } from 'dragoman/llm/ai-sdk';",
  `import { model } from './model.${extension}';`,
].join('\n')}

const assistant = new ToolLoopAgent({ model, instructions: 'Answer briefly.' });

export default defineAgent({
  name: '${name}',
  description: 'Answers questions with a language model',
  version: '0.1.0',
  skills: [
    {
      id: 'chat',
      name: 'Chat',
      description: 'Answers a question',
      tags: ['chat'],
      examples: ['Write a haiku about rain.'],
    },
  ],
  process: fromAiSdk(assistant),
});
`;

const modelFile = (language: ProjectLanguage): string => `${[
  "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
  `import { simulateReadableStream${language === 'ts' ? ', type LanguageModel' : ''} } from 'ai';`,
  "import { MockLanguageModelV3 } from 'ai/test';",
].join('\n')}

const { MODEL_URL, MODEL_NAME = 'gpt-5-mini', MODEL_API_KEY } = process.env;

/** The model of MODEL_URL, or a mock model without it. */
export const model${language === 'ts' ? ': LanguageModel' : ''} = MODEL_URL
  ? createOpenAICompatible({ name: 'model', baseURL: MODEL_URL, apiKey: MODEL_API_KEY, includeUsage: true })(MODEL_NAME)
  : new MockLanguageModelV3({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'Hello from the mock model. ' },
            { type: 'text-delta', id: '1', delta: 'Set MODEL_URL to use a real one.' },
            { type: 'text-end', id: '1' },
            {
              type: 'finish',
              finishReason: { unified: 'stop', raw: undefined },
              usage: {
                inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
                outputTokens: { total: 1, text: undefined, reasoning: undefined },
              },
            },
          ],
        }),
      }),
    });
`;

const scenarioFile = `# yaml-language-server: $schema=../node_modules/dragoman/schemas/conversation.schema.json
- scenario: answers
  description: The agent answers with the text of the model.
  steps:
    - say: Say hello.
      expect: { state: completed }
`;
