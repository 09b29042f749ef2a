import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { BrokerConnection } from '../../../src/mesh/brokers/broker-connection.ts';
import { connectMqtt } from '../../../src/mesh/brokers/mqtt/connect-mqtt.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { Collector, numberTexts } from '../../support/collector.ts';
import { mosquitto, startMosquitto, type TestBroker } from '../../support/mesh/broker.ts';

const fixture = fileURLToPath(new URL('../fixtures/mqtt-subscriber.mjs', import.meta.url));
const open = closeAfterEach();

async function startBroker(): Promise<TestBroker> {
  const broker = await startMosquitto();
  open.push({ close: () => broker.remove() });
  return broker;
}

async function connectTo(broker: TestBroker, clientId?: string): Promise<BrokerConnection> {
  const connection = await connectMqtt(broker.url, clientId === undefined ? {} : { clientId });
  open.push(connection);
  return connection;
}

/** Starts a process that receives messages of the queue `q` and finishes none; with a client id, it shares the queue. */
async function startSubscriber(broker: TestBroker, ...clientId: string[]) {
  const child = spawn(process.execPath, [fixture, broker.url, ...clientId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = new Collector<string>();
  createInterface(child.stdout).on('line', printed.add);
  const kill = async (): Promise<void> => {
    if (child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  open.push({ close: kill });
  await printed.waitFor(() => printed.all.includes('ready'));
  return { waitForMessages: (count: number) => printed.waitForCount(count + 1), kill };
}

describe.skipIf(mosquitto === undefined)('MQTT session of a process that is killed with SIGKILL', () => {
  it('delivers the unfinished messages of an exclusive queue to the process that subscribes next', async () => {
    const broker = await startBroker();
    const child = await startSubscriber(broker);
    const one = await connectTo(broker);
    await Promise.all(numberTexts(5).map((number) => one.publish('a', number)));
    await child.waitForMessages(5);
    await child.kill();
    await one.publish('a', '5');
    const received = new Collector();
    await one.subscribe('a', received.add, { queue: 'q' });
    await received.waitForCount(6);
    expect(received.all.map(({ payload, redelivered }) => [payload, redelivered])).toEqual([
      ...numberTexts(5).map((number) => [number, true]),
      ['5', false],
    ]);
  });

  it('retains the messages of a shared queue until the process returns with its client id', async () => {
    const broker = await startBroker();
    const child = await startSubscriber(broker, 'replica-1');
    const other = await connectTo(broker, 'replica-2');
    const [byOther, received] = [new Collector(), new Collector()];
    await other.subscribe('a', byOther.add, { queue: 'q', shared: true });
    for (const number of numberTexts(6)) await other.publish('a', number);
    await child.waitForMessages(3);
    await child.kill();
    // Mosquitto assigns messages to the missing member, too.
    for (const number of ['6', '7', '8', '9']) await other.publish('a', number);
    await byOther.waitForCount(5);
    const again = await connectTo(broker, 'replica-1');
    await again.subscribe('a', received.add, { queue: 'q', shared: true });
    await received.waitForCount(5);
    expect(received.all.map(({ redelivered }) => redelivered)).toEqual([true, true, true, false, false]);
    expect([...byOther.payloads, ...received.payloads].toSorted()).toEqual(numberTexts(10));
  });
});
