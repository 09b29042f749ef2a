import { describe, expect, it } from 'vitest';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { agentSource, changeFile, replyOf, useServedProject } from '../../support/cli/served-project.ts';

const project = useServedProject();

describe('dragoman serve --watch', () => {
  it('serves the changed module on the same port', async () => {
    project.write('agent.js', agentSource(`'one'`));
    const started = await project.serve('agent.js', '--watch');
    expect(await replyOf(started.url)).toBe('one');
    await changeFile(project, started, 'agent.js', agentSource(`'two'`));
    expect(await replyOf(started.url)).toBe('two');
    await changeFile(project, started, 'agent.js', agentSource(`'three'`), 2);
    expect(await replyOf(started.url)).toBe('three');
    expect(started.stdout.match(/listening on/g)).toHaveLength(1);
  });

  it('keeps the previous version while the module is broken, and recovers', async () => {
    project.write('agent.js', agentSource(`'one'`));
    const started = await project.serve('agent.js', '--watch');
    project.write('agent.js', 'export default {');
    await started.prints(/error: Cannot load [^]*The previous version keeps running/, 'stderr');
    expect(await replyOf(started.url)).toBe('one');
    project.write('agent.js', `import './missing.js';\n${agentSource(`'two'`)}`);
    await started.prints(/keeps running[^]*keeps running/, 'stderr');
    // The import that was missing is watched, too.
    await changeFile(project, started, 'missing.js', '');
    expect(await replyOf(started.url)).toBe('two');
  });

  it.each([
    ['a file that does not exist', ['nope.js'], /File not found: .*nope\.js/],
    ['an invalid flag', ['agent.js', '--base-path', 'x y'], /Invalid base path/],
  ])('exits with 2 for %s', async (_what, args, message) => {
    project.write('agent.js', agentSource(`'one'`));
    const { code, stderr } = await runInProcess(['serve', ...args, '--watch'], { cwd: project.path });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
