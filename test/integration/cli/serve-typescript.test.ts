import { describe, expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';
import { replyOf, useServedProject } from '../../support/cli/served-project.ts';

const project = useServedProject();

const agentModule = `import { defineAgent, type ProcessContext } from 'dragoman';
import { greeting } from './greeting.ts';
const process = ({ text }: ProcessContext): string => \`\${greeting}, \${text}\`;
export default defineAgent({ name: 'Greeter', description: 'Greets', process });`;

describe('dragoman serve with TypeScript', () => {
  it('serves agent.ts and its imports', async () => {
    project.write('agent.ts', agentModule);
    project.write('greeting.ts', `export const greeting: string = 'Hello';`);
    const started = await project.serve('agent.ts');
    expect(await replyOf(started.url, 'Ada')).toBe('Hello, Ada');
    expect(started.stderr).toBe('');
  });

  it('runs scenarios against a TypeScript module', async () => {
    project.write('agent.ts', agentModule);
    project.write('greeting.ts', `export const greeting: string = 'Hello';`);
    project.write(
      'scenario.yaml',
      `- test_case_id: greets
  skip_intermediate_events: true
  gateway_input: { target_agent_name: Greeter, parts: [{ type: text, text: Ada }] }
  expected_gateway_output: [{ type: final_response, task_state: completed }]
`,
    );
    const { stdout } = await runDragoman(['test', 'scenario.yaml', '--agent', 'agent.ts'], {
      cwd: project.path,
    }).ended;
    expect(stdout).toContain('1 passed');
  });
});
