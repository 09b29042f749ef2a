import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createProgram } from '../src/cli/program.ts';
import { repositoryRoot } from './support/cli/run-command.ts';

const read = (file: string): string => readFileSync(join(repositoryRoot, 'deploy', file), 'utf8');

const compose = parse(read('compose.yaml')) as {
  services: { agent: { command: string[]; stop_grace_period: string } };
};
const kinds = new Map(
  parseAllDocuments(read('kubernetes/agent.yaml')).map((document) => {
    const { kind, spec } = document.toJS() as { kind: string; spec: any };
    return [kind, spec];
  }),
);
const pod = kinds.get('Deployment').template.spec;
const unit = read('dragoman@.service');
const unitCommand = /^ExecStart=.* (serve .*)$/m.exec(unit)?.[1]?.split(' ') ?? [];

const commands: [string, string[], string][] = [
  ['compose.yaml', compose.services.agent.command, compose.services.agent.stop_grace_period],
  ['kubernetes/agent.yaml', pod.containers[0].args, `${pod.terminationGracePeriodSeconds}s`],
  ['dragoman@.service', unitCommand, `${/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]}s`],
];

const seconds = (text: string | undefined): number => Number(/(\d+)s$/.exec(text ?? '')?.[1]);

describe.each(commands)('deploy/%s', (_file, args, stopTimeout) => {
  const flag = (name: string): string | undefined => args.find((each) => each.startsWith(`${name}=`));

  it('uses flags of dragoman serve', async () => {
    const program = await createProgram(['serve']);
    const serve = program.commands.find((each) => each.name() === args[0]);
    const known = serve?.options.map(({ long }) => long);
    for (const arg of args.slice(2)) expect(known).toContain(arg.split('=')[0]);
  });

  it('lets the server drain before it is killed', () => {
    expect(seconds(flag('--drain'))).toBeGreaterThan(0);
    expect(seconds(stopTimeout)).toBeGreaterThan(seconds(flag('--not-ready')) + seconds(flag('--drain')) + 5);
  });

  it('contains no password', () => {
    expect(flag('--store')).toMatch(/^--store=postgres:\/\/[^:@]+$/);
  });
});

describe('deploy/kubernetes/agent.yaml', () => {
  it('probes readiness and liveness of the port of the server', () => {
    const [{ readinessProbe, livenessProbe, ports, args }] = pod.containers;
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(args).toContain(`--port=${ports[0].containerPort}`);
  });

  it('selects the same pods in all objects', () => {
    const { labels } = kinds.get('Deployment').template.metadata;
    expect(kinds.get('Deployment').selector.matchLabels).toEqual(labels);
    expect(kinds.get('Service').selector).toEqual(labels);
    expect(kinds.get('PodDisruptionBudget').selector.matchLabels).toEqual(labels);
    expect(kinds.get('HorizontalPodAutoscaler').scaleTargetRef.kind).toBe('Deployment');
  });
});
