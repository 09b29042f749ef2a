import { sleep, systemClock } from '../../../client/abortable-sleep.ts';
import type { ProcessContext } from '../../../engine/process-context.ts';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { artifact, chunk, type AgentOutput, type AgentResult, status } from '../../../engine/agent-output.ts';
import type { AgentSkill } from '../../../protocol/card.ts';
import { rawPart, textOf } from '../../../protocol/part.ts';
import { bearerAuth } from '../../../server/auth/schemes/bearer.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../server/node/serve.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { printError } from '../../terminal/usage-error.ts';
import { shutdownTimeout, stopOnSignals } from '../../process/shutdown.ts';

/** What `dragoman demo-server` is told. */
export interface DemoFlags {
  port: number;
  host: string;
  bearer?: string;
  streaming: boolean;
  output: 'text' | 'json';
}

type Run = AsyncGenerator<AgentOutput, AgentResult>;

/** What the agent does, by the first word that it hears. */
const skills: {
  readonly [word: string]: { what: string; run: (context: ProcessContext, rest: string) => Run };
} = {
  ask: {
    what: 'Asks back and waits for an answer',
    async *run(context) {
      const answer = textOf((await context.ask('Which colour would you like?')).parts);
      yield `Your colour is ${answer}.`;
    },
  },
  auth: {
    what: 'Waits for an authorization',
    async *run(context) {
      await context.askForAuth('Agree at https://login.example.com/consent, then answer anything.');
      yield 'Thank you for agreeing.';
    },
  },
  slow: {
    what: 'Works for some seconds, piece by piece',
    async *run({ signal }, rest) {
      const seconds = Math.min(60, Number.parseFloat(rest) || 3);
      yield status('working', `This takes ${seconds} seconds.`);
      for (let piece = 1; piece <= 5 && !signal.aborted; piece++) {
        await sleep(systemClock, (seconds * 1_000) / 5, signal).catch(() => {});
        yield chunk('report', `Line ${piece} of 5\n`, { name: 'report.txt', lastChunk: piece === 5 });
      }
    },
  },
  file: {
    what: 'Gives a file',
    async *run(_context, rest) {
      const bytes = Buffer.from(`name,value\n${rest},1\n`);
      yield artifact([rawPart(bytes, { filename: 'table.csv', mediaType: 'text/csv' })], { name: 'table' });
    },
  },
  data: {
    what: 'Gives JSON',
    async *run({ message }, rest) {
      const given = message.parts.flatMap((part) => ('data' in part ? [part.data] : []));
      yield artifact([{ data: { heard: rest, given }, mediaType: 'application/json' }], { name: 'answer' });
    },
  },
  fail: {
    what: 'Fails',
    async *run() {
      yield status('failed', 'It failed, as it was told to.');
    },
  },
  reject: {
    what: 'Refuses',
    async *run() {
      yield status('rejected', 'It refused, as it was told to.');
    },
  },
  hello: {
    what: 'Answers without a task',
    async *run({ contextId }) {
      yield {
        messageId: crypto.randomUUID(),
        role: 'agent',
        contextId,
        parts: [{ text: 'Hello yourself.' }],
      };
    },
  },
};

function described(id: string, description: string, example: string): AgentSkill {
  return { id, name: id, description, tags: ['demo'], examples: [example] };
}

function demoAgent({ streaming, bearer: token }: DemoFlags): LocalAgent {
  return defineAgent(
    {
      name: 'Demo',
      description: 'Does what the first word of a message says',
      skills: [
        described('echo', 'Says back whatever else it hears', 'How are you?'),
        ...Object.entries(skills).map(([id, { what }]) => described(id, what, `${id} me`)),
      ],
      streaming,
      pushNotifications: true,
      allowDirectReply: true,
      // It is for callers that are known, and without a token nobody is.
      ...(token !== undefined && {
        extendedCard: { description: 'Does what the first word of a message says, and knows you' },
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

/** Serves the demo agent until a signal comes. */
export async function runDemoServerCommand(flags: DemoFlags): Promise<void> {
  const agent = demoAgent(flags);
  const server = await started(agent, flags, {
    host: flags.host,
    ...(flags.bearer !== undefined && {
      auth: { authenticators: [bearerAuth({ tokens: { [flags.bearer]: 'caller' } })] },
    }),
  });
  stopOnSignals(async () => {
    await server.stop(shutdownTimeout);
    await agent.close();
  }, printError);
  process.stdout.on('error', () => {});
  const { url } = server;
  const commands = [`card get -a ${url}`, `send -a ${url} "slow 3" --stream`, `send -a ${url} "ask me"`];
  process.stdout.write(
    flags.output === 'json'
      ? `${JSON.stringify({ url, card: `${url}/.well-known/agent-card.json` })}\n`
      : [
          `listening on ${url}`,
          ...commands.map((each) => `Try: dragoman ${each}`),
          'Ctrl-C stops it.',
          '',
        ].join('\n'),
  );
}

async function started(
  agent: LocalAgent,
  { port, host }: DemoFlags,
  options: ServeOptions,
): Promise<RunningServer> {
  try {
    return await serve(agent, { ...options, port });
  } catch (cause) {
    throw toListenError(cause, { port, host });
  }
}
