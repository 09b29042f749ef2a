import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import type { StreamBytes, StreamHandler } from '../../http2/http2-stream.ts';
import type { CallStream } from '../../server/grpc/server-call.ts';
import { ForwardingCallStream } from './forwarding-call-stream.ts';

/** Observer of a stream. */
export interface CallStreamListener {
  /** Bytes of the client. */
  received(bytes: Uint8Array): void;
  /** Headers or trailers of the response. */
  headSent(list: HeaderList): void;
  bodySent(bytes: StreamBytes): void;
  /** @param isFinished - true if the whole response was sent */
  closed(isFinished: boolean): void;
}

/** Passes everything to a stream and reports it. */
export class CapturedCallStream extends ForwardingCallStream implements CallStream {
  readonly #listener: CallStreamListener;
  #handler: StreamHandler | undefined = undefined;
  #hasEnded = false;

  constructor(stream: CallStream, listener: CallStreamListener) {
    super(stream);
    this.#listener = listener;
    stream.handler = {
      dataReceived: (bytes) => {
        listener.received(bytes);
        this.#handler?.dataReceived(bytes);
      },
      endReceived: (trailers) => this.#handler?.endReceived(trailers),
      drained: () => this.#handler?.drained(),
      closed: (code, error) => {
        listener.closed(this.#hasEnded && code === 0);
        this.#handler?.closed(code, error);
      },
    };
  }

  get handler(): StreamHandler | undefined {
    return this.#handler;
  }

  set handler(handler: StreamHandler | undefined) {
    this.#handler = handler;
  }

  sendHead(list: HeaderList, isEnd: boolean, isReused?: boolean): void {
    if (isEnd) this.#hasEnded = true;
    this.#listener.headSent(list);
    this.stream.sendHead(list, isEnd, isReused);
  }

  write(bytes: StreamBytes): boolean {
    this.#listener.bodySent(bytes);
    return this.stream.write(bytes);
  }

  end(bytes?: StreamBytes, trailers?: HeaderList, areReused?: boolean): void {
    this.#hasEnded = true;
    if (bytes !== undefined) this.#listener.bodySent(bytes);
    if (trailers) this.#listener.headSent(trailers);
    this.stream.end(bytes, trailers, areReused);
  }

  reset(code: number): void {
    this.#hasEnded = false;
    this.stream.reset(code);
  }
}
