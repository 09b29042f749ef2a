import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { AgentCrashedError, InconclusiveError } from '../../check-errors.ts';
import type { Crash } from '../../crash-monitor.ts';
import type { Probe } from '../../probe.ts';
import { prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import type { RawRequest } from '../../wire/raw-http-client.ts';

/** Bodies that are no requests. */
const malformedBodies = ['{"jsonrpc": "2.0", "id": 1, "method": ', '', 'hello', 'null', '[]', '[null]', '17'];

/** Replacements of a message that no client should send. */
const malformedMessages: readonly unknown[] = [
  null,
  'hello',
  [],
  {},
  { role: null, parts: null },
  { role: 'user', parts: [null] },
  { role: 'user', parts: [{ text: null }] },
];

/** Returns malformed variations of a send. */
function malformedRequests({ driver }: Probe): RawRequest[] {
  const message = { text: 'hello', messageId: crypto.randomUUID() };
  const valid = driver.encode('send', { message });
  if (!valid) return [];
  if (driver.transport === 'GRPC')
    return [[0xff, 0xff, 0xff], [0x0a, 0x7f], []].map((bytes) => ({
      ...valid,
      body: prefixMessage(Uint8Array.from(bytes)),
    }));
  const transforms = [
    () => null,
    () => [],
    ...malformedMessages.map((each) => (wire: Record<string, unknown>) => ({ ...wire, message: each })),
  ];
  return [
    ...malformedBodies.map((body) => ({ ...valid, body })),
    ...transforms.flatMap((transform) => driver.encode('send', { message }, { transform }) ?? []),
  ];
}

function describeCrash({ exchanges, isCertain }: Crash): string {
  const [first] = exchanges;
  const body = first?.requestBody ?? '';
  const request = `${first?.method} ${first?.url}${body === '' ? '' : ` with the body ${body.slice(0, 120)}`}`;
  return isCertain || exchanges.length === 1
    ? `The process of the agent ended after ${request}`
    : `The process of the agent ended after one of ${exchanges.length} concurrent requests, such as ${request}`;
}

/** Requests that end the process of the agent, in this check or in any other. It must be the last check. */
export const survivalChecks = defineChecks({ category: 'error-handling', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'process.survives',
    ...must('13.4', 'SEC-005', 'ERR-009', '0.3/survives', '0.1/survives'),
    sentence: 'No request ends the process of the agent.',
    remedy: 'Catch errors while a request is decoded and processed, and respond with an error.',
    isCritical: true,
    runsExclusively: true,
    async run(probe) {
      const { crashMonitor } = probe.context;
      let interruption: AgentCrashedError | undefined;
      try {
        // Before: only an agent that responded can end. After: the process may end after its last response.
        await probe.call('get', { id: crypto.randomUUID() });
        for (const request of malformedRequests(probe)) await probe.sendRaw(request);
        await probe.call('get', { id: crypto.randomUUID() });
      } catch (error) {
        if (!(error instanceof AgentCrashedError)) throw error;
        interruption = error;
      }
      const crashes = crashMonitor.crashesOf(probe.driver);
      for (const crash of crashes)
        probe.warn(describeCrash(crash), { exchanges: crash.exchanges.slice(0, 3) });
      if (crashes.length === 0 && interruption) throw new InconclusiveError(interruption.message);
    },
  },
]);
