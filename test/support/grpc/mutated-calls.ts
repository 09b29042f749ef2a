import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';
import { seededRandom } from '../seeded-random.ts';
import type { AttackedServer } from './attacked-server.ts';
import { frame, service } from './raw-calls.ts';
import { callHeaders, connectionStart, frameTypes, http2Frame, RawHttp2Connection } from './raw-http2.ts';

const request = frame(
  encodeMessage(messages1_0.SendMessageRequest, {
    message: {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ text: 'größe' }, { raw: 'AAEC', mediaType: 'a/b' }, { data: { a: [1, null, { b: true }] } }],
      metadata: { k: 'v' },
      extensions: ['urn:x'],
    },
    configuration: { historyLength: 1 },
  }),
);

/** Changes, removes, repeats or inserts bytes. */
function mutate(bytes: Buffer, random: () => number): Buffer {
  const pick = (end: number): number => Math.floor(random() * end);
  let mutant = Buffer.from(bytes);
  for (let n = 0; n <= pick(4); n++) {
    const at = pick(mutant.length);
    const length = pick(8);
    switch (pick(4)) {
      case 0:
        mutant[at] = pick(256);
        break;
      case 1:
        mutant = Buffer.concat([mutant.subarray(0, at), mutant.subarray(at + length)]);
        break;
      case 2:
        mutant = Buffer.concat([mutant.subarray(0, at + length), mutant.subarray(at)]);
        break;
      default:
        mutant = Buffer.concat([
          mutant.subarray(0, at),
          Buffer.from(Array.from({ length }, () => pick(256))),
          mutant.subarray(at),
        ]);
    }
  }
  return mutant;
}

/**
 * Sends mutated calls: every second one is mutated as a message within correct frames of HTTP/2, the others as a whole.
 * The server answers, or says that it closes the connection, or closes it.
 */
export async function sendMutatedCalls(attacked: AttackedServer, count: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const path = `${service}SendMessage`;
  const whole = Buffer.concat([callHeaders(1, path), http2Frame(frameTypes.data, 1, 1, request)]);
  for (let sent = 0; sent < count; ) {
    const connection = new RawHttp2Connection(attacked.server.port);
    if (random() < 0.5) {
      const calls = Array.from({ length: Math.min(20, count - sent) }, (_, index) => {
        const id = 1 + 2 * index;
        return Buffer.concat([
          callHeaders(id, path),
          http2Frame(frameTypes.data, 1, id, mutate(request, random)),
        ]);
      });
      sent += calls.length;
      connection.write(connectionStart(), ...calls);
      const last = 2 * calls.length - 1;
      const answer = await connection.next(({ stream, flags }) => stream === last && (flags & 1) === 1);
      if (!answer) throw new Error('The server closed the connection of calls with malformed messages');
    } else {
      sent++;
      connection.write(connectionStart(), mutate(whole, random));
      // The answer to this ping follows what the server says about the rest, unless it has closed the connection.
      connection.write(http2Frame(frameTypes.ping, 0, 0, Buffer.alloc(8, 7)));
      connection.socket.end();
      await connection.next(({ type }) => type === frameTypes.ping || type === frameTypes.goaway);
    }
    connection.socket.destroy();
  }
}
