import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot, runNode } from '../../support/cli/run-command.ts';
import { useExampleFolder } from '../../support/llm/example-folder.ts';

const folder = useExampleFolder(
  ['ai', 'langchain', '@langchain'].map((name) => join(repositoryRoot, 'node_modules', name)),
);

const usage = `{
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
}`;

/** Mock models, made with the tools of each framework. */
const models: { readonly [example: string]: string } = {
  'agent.js': `
    import { simulateReadableStream } from 'ai';
    import { MockLanguageModelV3 } from 'ai/test';
    export const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'Roses are red.' },
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: ${usage} },
          ],
        }),
      }),
    });`,
  'langchain-agent.js': `
    import { FakeListChatModel } from '@langchain/core/utils/testing';
    export const model = new FakeListChatModel({ responses: ['Roses are red.'] });`,
};

describe('examples of docs/guide/llm.md', () => {
  it.each(Object.keys(models))('%s answers with the text of its model', async (name) => {
    folder.write('model.js', models[name] ?? '');
    expect(await folder.serveExample(name)).toBe('Roses are red.');
  });

  it('caller.js gives the result of a remote agent to its model', async () => {
    folder.writeExample('caller.js');
    folder.write(
      'model.js',
      `import { MockLanguageModelV3 } from 'ai/test';
      const usage = ${usage};
      export const model = new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          const result = prompt.at(-1).role === 'tool' && JSON.stringify(prompt.at(-1));
          return {
            content: result
              ? [{ type: 'text', text: \`The agent said \${/Sunny in \\w+/.exec(result)}\` }]
              : [{ type: 'tool-call', toolCallId: '1', toolName: 'weather_forecast', input: '{"prompt":"Oslo"}' }],
            finishReason: { unified: result ? 'stop' : 'tool-calls', raw: undefined },
            usage,
            warnings: [],
          };
        },
      });`,
    );
    folder.write(
      'weather.js',
      `import { defineAgent } from 'dragoman';
      export default defineAgent({
        name: 'Weather',
        description: 'Knows the weather',
        skills: [{ id: 'forecast' }],
        process: async ({ text }) => \`Sunny in \${text}\`,
      });`,
    );
    const { url } = await folder.serve('weather.js');
    const { stdout, stderr, code } = await runNode(['caller.js', url], { cwd: folder.path }).ended;
    expect(stderr).toBe('');
    expect(stdout).toBe('The agent said Sunny in Oslo\n');
    expect(code).toBe(0);
  });
});
