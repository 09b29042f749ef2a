import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from '../../src/client/connect.ts';
import { bearer } from '../../src/client/credentials.ts';
import {
  type ClientInstruction,
  clientOperations,
  type ClientUnderTest,
} from '../../src/conformance/clients/client-under-test.ts';
import { pushListener } from '../../src/push/receiving/listener.ts';
import { pushReceiver } from '../../src/push/receiving/receiver.ts';
import type { Agent } from '../../src/protocol/agent.ts';
import { createEndpointCache } from '../../src/client/discovery/endpoint-cache.ts';

/** The client of this project in the process of the test, for the tests of clients. */
export const ownClient: ClientUnderTest = {
  name: 'dragoman',
  command: 'connect {url}',
  operations: clientOperations,
  takesToken: true,
  async run(instruction, signal) {
    const lines: string[] = [];
    const agent = connect(instruction.url, {
      auth: bearer(instruction.token),
      endpointCache: createEndpointCache(),
    });
    const exit = (code: number, stderr = '') => ({
      code,
      isTimeout: false,
      stdout: lines.join('\n'),
      stderr,
    });
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      await Promise.race([
        perform(agent, instruction, (value) => lines.push(JSON.stringify(value))),
        aborted,
      ]);
      return exit(0);
    } catch (error) {
      if (signal.aborted) return { ...exit(1), code: undefined, isTimeout: true };
      return exit(1, String(error));
    } finally {
      await agent.close?.();
    }
  },
};

async function perform(
  agent: Agent,
  { operation, text, reply, taskId: id }: ClientInstruction,
  print: (value: unknown) => void,
): Promise<void> {
  switch (operation) {
    case 'send':
      print(await agent.send(text));
      return;
    case 'stream':
      for await (const event of agent.stream(text)) print(event);
      return;
    case 'converse': {
      const task = await agent.send(text);
      if (!('id' in task)) return;
      print(await agent.send({ text: reply, taskId: task.id, contextId: task.contextId }));
      return;
    }
    case 'get':
      print(await agent.getTask({ id }));
      return;
    case 'list':
      print(await agent.listTasks({}));
      return;
    case 'cancel':
      print(await agent.cancelTask({ id }));
      return;
    case 'subscribe':
      for await (const event of agent.subscribe({ id })) print(event);
      return;
    case 'push':
      await receivePush(agent, id);
      return;
    case 'extended-card':
      print(await agent.extendedCard());
  }
}

/** Registers a webhook and waits for its first notification. */
async function receivePush(agent: Agent, taskId: string): Promise<void> {
  const token = crypto.randomUUID();
  let onReceived = (): void => {};
  const received = new Promise<void>((resolve) => {
    onReceived = resolve;
  });
  const server = createServer(pushListener(pushReceiver({ token }), () => onReceived()));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    await agent.createPushConfig({ id: 'config-1', taskId, url, token });
    await received;
    // The response to the notification is sent after its handler.
    await new Promise((resolve) => void setImmediate(resolve));
  } finally {
    server.close();
  }
}
