import type { CallStream } from '../../server/grpc/server-call.ts';

/** Passes to another stream what does not concern the content of a call. */
export abstract class ForwardingCallStream
  implements Omit<CallStream, 'handler' | 'sendHead' | 'write' | 'end' | 'reset'>
{
  protected readonly stream: CallStream;

  constructor(stream: CallStream) {
    this.stream = stream;
  }

  get isClosed(): boolean {
    return this.stream.isClosed;
  }

  get waitingBytes(): number {
    return this.stream.waitingBytes;
  }

  get allowedBytes(): number {
    return this.stream.allowedBytes;
  }

  read(): void {
    this.stream.read();
  }

  discard(): void {
    this.stream.discard();
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }
}
