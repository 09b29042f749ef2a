import type { Socket } from 'node:net';
import { frameFlags, frameOf, frameTypes, uint32Text } from './frames.ts';
import { HeaderEncoder, type HeaderList } from './hpack/header-encoder.ts';
import type { Http2Stream, StreamSession } from './http2-stream.ts';
import { ReceiveWindow } from './receive-window.ts';
import { SessionOutput } from './session-output.ts';
import { defaultWindow, PeerSettings } from './session-settings.ts';

/** Streams of which frames are ignored, because they were reset while the peer may have sent more. */
const maxIgnoredStreams = 1_000;

/** The sending side of a connection. */
export abstract class SessionSender implements StreamSession {
  readonly output: SessionOutput;
  readonly peer = new PeerSettings();
  readonly streams = new Map<number, Http2Stream>();
  sendWindow = defaultWindow;
  protected readonly encoder = new HeaderEncoder();
  protected readonly receiveWindow: ReceiveWindow;
  /** Streams with bytes that wait for the connection. */
  readonly #ready = new Set<Http2Stream>();
  readonly #ignored = new Set<number>();

  constructor(socket: Socket, receiveWindow: number) {
    this.output = new SessionOutput(socket);
    this.receiveWindow = new ReceiveWindow(receiveWindow);
  }

  encode(list: HeaderList, isReused: boolean): string {
    return this.encoder.encode(list, isReused);
  }

  waitToSend(stream: Http2Stream): void {
    this.#ready.add(stream);
  }

  consume(length: number): void {
    const increment = this.receiveWindow.consume(length);
    if (increment > 0) this.sendWindowUpdate(0, increment);
  }

  sendWindowUpdate(streamId: number, increment: number): void {
    this.output.write(frameOf(frameTypes.windowUpdate, frameFlags.none, streamId, uint32Text(increment)));
  }

  sendReset(streamId: number, code: number): void {
    const ignored = this.#ignored;
    ignored.add(streamId);
    const [oldest = 0] = ignored;
    if (ignored.size > maxIgnoredStreams) ignored.delete(oldest);
    this.output.write(frameOf(frameTypes.reset, frameFlags.none, streamId, uint32Text(code)));
  }

  /** True for a stream that was reset, of which the peer may not have heard. */
  protected isIgnored(streamId: number): boolean {
    return this.#ignored.has(streamId);
  }

  streamClosed(stream: Http2Stream): void {
    this.streams.delete(stream.id);
    this.#ready.delete(stream);
  }

  /** Lets the streams that wait send one frame after the other. */
  protected sendReady(): void {
    const ready = this.#ready;
    while (ready.size > 0 && this.sendWindow > 0 && !this.output.isCongested)
      for (const stream of Array.from(ready)) {
        ready.delete(stream);
        stream.sendWaiting(1);
      }
  }
}
