import { sleep, systemClock } from '../../../primitives/clock.ts';
import type { ProcessContext } from '../../../engine/process-context.ts';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { artifact, chunk, type AgentOutput, type AgentResult, status } from '../../../engine/agent-output.ts';
import type { AgentSkill } from '../../../protocol/card.ts';
import { rawPart, textOf } from '../../../protocol/part.ts';
import { bearerAuth } from '../../../server/auth/schemes/bearer.ts';
import { serve } from '../../../server/node/serve.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { printError } from '../../terminal/print-error.ts';
import {
  type BrowserAccessFlags,
  type OutputFormat,
  toBrowserAccess,
  warnIfExposed,
} from '../../inputs/shared-options.ts';
import { shutdownTimeout, stopOnSignals } from '../../process/shutdown.ts';

/** Flags of `dragoman demo-server`. */
export interface DemoFlags extends BrowserAccessFlags {
  port: number;
  host: string;
  requireBearer?: string;
  streaming: boolean;
  output: OutputFormat;
}

type Run = AsyncGenerator<AgentOutput, AgentResult>;

/** Skills of the agent by the first word of a message. */
const skills: {
  readonly [word: string]: { description: string; run: (context: ProcessContext, rest: string) => Run };
} = {
  ask: {
    description: 'Requests input',
    async *run(context) {
      const answer = textOf((await context.ask('Which color would you like?')).parts);
      yield `Your color is ${answer}.`;
    },
  },
  auth: {
    description: 'Requests authorization',
    async *run(context) {
      await context.askForAuth('Approve at https://login.example.com/consent, then send any message.');
      yield 'Authorization received.';
    },
  },
  slow: {
    description: 'Streams a report for some seconds',
    async *run({ signal }, rest) {
      const seconds = Math.min(60, Number.parseFloat(rest) || 3);
      yield status('working', `This takes ${seconds} seconds.`);
      for (let line = 1; line <= 5 && !signal.aborted; line++) {
        await sleep(systemClock, (seconds * 1_000) / 5, signal).catch(() => {});
        yield chunk('report', `Line ${line} of 5\n`, { name: 'report.txt', lastChunk: line === 5 });
      }
    },
  },
  file: {
    description: 'Returns a file',
    async *run(_context, rest) {
      const bytes = Buffer.from(`name,value\n${rest},1\n`);
      yield artifact([rawPart(bytes, { filename: 'table.csv', mediaType: 'text/csv' })], { name: 'table' });
    },
  },
  data: {
    description: 'Returns JSON',
    async *run({ message }, rest) {
      const received = message.parts.flatMap((part) => ('data' in part ? [part.data] : []));
      yield artifact([{ data: { text: rest, received }, mediaType: 'application/json' }], { name: 'result' });
    },
  },
  fail: {
    description: 'Fails the task',
    async *run() {
      yield status('failed', 'Failed on request.');
    },
  },
  reject: {
    description: 'Rejects the task',
    async *run() {
      yield status('rejected', 'Rejected on request.');
    },
  },
  hello: {
    description: 'Responds without a task',
    async *run({ contextId }) {
      yield { messageId: crypto.randomUUID(), role: 'agent', contextId, parts: [{ text: 'Hello!' }] };
    },
  },
};

function demoSkill(id: string, description: string, example: string): AgentSkill {
  return { id, name: id, description, tags: ['demo'], examples: [example] };
}

function demoAgent({ streaming, requireBearer: token }: DemoFlags): LocalAgent {
  return defineAgent(
    {
      name: 'Demo',
      description: 'Selects its behavior by the first word of a message',
      skills: [
        demoSkill('echo', 'Echoes all other messages', 'How are you?'),
        ...Object.entries(skills).map(([id, { description }]) => demoSkill(id, description, `${id} me`)),
      ],
      streaming,
      pushNotifications: true,
      allowDirectReply: true,
      // An extended card needs authenticated clients, which need a token.
      ...(token !== undefined && {
        extendedCard: {
          description: 'Selects its behavior by the first word of a message, for authenticated clients',
        },
      }),
      async *process(context) {
        const [, word = '', rest = ''] = /^\s*(\w*)\s*([^]*)$/.exec(context.text) ?? [];
        const skill = Object.hasOwn(skills, word.toLowerCase()) ? skills[word.toLowerCase()] : undefined;
        if (skill) yield* skill.run(context, rest);
        else yield `You said: ${context.text}`;
      },
    },
    { push: { egress: { allowLoopback: true } } },
  );
}

/** Runs `dragoman demo-server` until a signal arrives. */
export async function runDemoServerCommand(flags: DemoFlags): Promise<void> {
  const agent = demoAgent(flags);
  const { host, port, requireBearer } = flags;
  const auth = requireBearer && { authenticators: [bearerAuth({ tokens: { [requireBearer]: 'user' } })] };
  const server = await startListening(flags, () =>
    serve(agent, { host, port, ...toBrowserAccess(flags), ...(auth && { auth }) }),
  );
  stopOnSignals(async () => {
    await server.stop(shutdownTimeout);
    await agent.close();
  }, printError);
  if (requireBearer === undefined) warnIfExposed(host);
  process.stdout.on('error', () => {});
  const { url } = server;
  const commands = [`card get -a ${url}`, `send -a ${url} "slow 3" --stream`, `send -a ${url} "ask me"`];
  const lines =
    flags.output === 'json'
      ? [JSON.stringify({ url, card: `${url}/.well-known/agent-card.json` })]
      : [`listening on ${url}`, ...commands.map((each) => `Try: dragoman ${each}`), 'Press Ctrl-C to stop.'];
  process.stdout.write(`${lines.join('\n')}\n`);
}
