import { describe, expect, it } from 'vitest';
import { grpcServiceOf } from '../../dialects/protobuf/grpc-service.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { observeCall } from './observe-call.ts';

const service = grpcServiceOf('1.0');
const method = service?.methods.find(({ name }) => name === 'GetTask');

/** Returns the body that an observer sees of the frames of a request. */
function observedBody(frames: Buffer): string | undefined {
  if (!service || !method) throw new Error('There is no method GetTask');
  let body: string | undefined;
  const request = {
    method: 'POST',
    path: '/',
    headers: {},
    body: frames.toString('latin1'),
    onDisconnect() {},
  };
  observeCall(
    (observed) => {
      body = observed.body;
      return undefined;
    },
    request as unknown as HttpServerRequest,
    { service, method },
  );
  return body;
}

const frame = (flag: number, message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([flag, 0, 0, 0, message.length]), message]);

describe('observeCall', () => {
  it('shows a message as JSON', () => {
    expect(observedBody(frame(0, Buffer.from('\x12\x02t1')))).toBe('{"id":"t1"}');
  });

  it.each([
    ['a text that is not UTF-8', frame(0, Buffer.from([0x12, 1, 0xff])), '(3 bytes of application/grpc)'],
    ['a field that ends too early', frame(0, Buffer.from([0x12, 9])), '(2 bytes of application/grpc)'],
    ['an unknown flag', frame(7, Buffer.from([0x12, 0])), '(7 bytes of application/grpc)'],
  ])('shows the length of a message with %s', (_what, frames, text) => {
    expect(observedBody(frames)).toBe(text);
  });
});
