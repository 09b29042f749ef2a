import { describe, expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';
import { changeFile, replyOf, useServedProject } from '../../support/cli/served-project.ts';

const project = useServedProject();

const agentModule = `import { defineAgent, type ProcessContext } from 'dragoman';
import { greeting } from './greeting.ts';
const process = ({ text }: ProcessContext): string => \`\${greeting}, \${text}\`;
export default defineAgent({ name: 'Greeter', description: 'Greets', process });`;

describe('dragoman serve with TypeScript', () => {
  it('serves agent.mts and its imports', async () => {
    project.write('agent.mts', agentModule);
    project.write('greeting.ts', `export const greeting: string = 'Hello';`);
    const started = await project.serve('agent.mts');
    expect(await replyOf(started.url, 'Ada')).toBe('Hello, Ada');
    expect(started.stderr).toBe('');
  });

  it('restarts when an import changes', async () => {
    project.write('agent.ts', agentModule);
    project.write('greeting.ts', `export const greeting: string = 'Hello';`);
    const started = await project.serve('agent.ts', '--watch');
    expect(await replyOf(started.url, 'Ada')).toBe('Hello, Ada');
    await changeFile(project, started, 'greeting.ts', `export const greeting: string = 'Goodbye';`);
    expect(await replyOf(started.url, 'Ada')).toBe('Goodbye, Ada');
  });

  it('prints the place of a syntax error', async () => {
    project.write('agent.ts', 'export default {');
    const { code, stderr } = await runDragoman(['serve', 'agent.ts'], { cwd: project.path }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('agent.ts');
  });
});
