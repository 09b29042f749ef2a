import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentSource, changeFile, replyOf, useServedProject } from '../../support/cli/served-project.ts';

const project = useServedProject();

describe('dragoman serve --watch', () => {
  it('serves changed imports: modules of modules, CommonJS and JSON', async () => {
    mkdirSync(join(project.path, 'lib'));
    project.write('lib/word.cjs', `module.exports = 'one';`);
    project.write('lib/mark.json', `"!"`);
    project.write(
      'greeting.js',
      `import word from './lib/word.cjs'; import mark from './lib/mark.json' with { type: 'json' }; export const greeting = word + mark;`,
    );
    project.write('agent.js', `import { greeting } from './greeting.js';\n${agentSource('greeting')}`);
    const started = await project.serve('agent.js', '--watch');
    expect(await replyOf(started.url)).toBe('one!');
    await changeFile(project, started, 'lib/word.cjs', `module.exports = 'two';`);
    expect(await replyOf(started.url)).toBe('two!');
    await changeFile(project, started, 'lib/mark.json', `"?"`, 2);
    expect(await replyOf(started.url)).toBe('two?');
  });

  it('waits for a change if the module cannot be loaded at the start', async () => {
    project.write('agent.js', `throw new Error('not yet');`);
    const command = project.start('agent.js', '--watch');
    await command.prints(/not yet[^]*Waiting for changes/, 'stderr');
    project.write('agent.js', agentSource(`'ready'`));
    const [, url = ''] = await command.prints(/^listening on (\S+)\n/);
    expect(await replyOf(url)).toBe('ready');
  });

  it('waits for a change after a crash of the agent', async () => {
    project.write(
      'agent.js',
      agentSource(`{ setImmediate(() => { throw new Error('crash'); }); return 'x'; }`),
    );
    const started = await project.serve('agent.js', '--watch');
    await replyOf(started.url).catch(() => {});
    await started.prints(/The agent ended with exit code \d+\. Waiting for changes/, 'stderr');
    await changeFile(project, started, 'agent.js', agentSource(`'fixed'`));
    expect(await replyOf(started.url)).toBe('fixed');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('stops the agent on %s', async (signal) => {
    project.write('agent.js', agentSource(`'one'`));
    const started = await project.serve('agent.js', '--watch');
    expect((await started.stop(signal)).code).toBe(0);
    await expect(fetch(started.url)).rejects.toThrow();
  });

  it('stops the agent when it is killed itself', async () => {
    project.write('agent.js', agentSource(`'one'`));
    const started = await project.serve('agent.js', '--watch');
    await started.stop('SIGKILL');
    for (;;) {
      const answers = await fetch(started.url).then(
        () => true,
        () => false,
      );
      if (!answers) break;
    }
  });
});
