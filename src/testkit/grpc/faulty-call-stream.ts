import { decodeMessage } from '../../dialects/protobuf/decode-message.ts';
import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import type { GrpcMethod } from '../../dialects/protobuf/grpc-service.ts';
import { okTrailers } from '../../dialects/protobuf/grpc-status.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { http2Codes } from '../../http2/http2-error.ts';
import type { StreamBytes, StreamHandler } from '../../http2/http2-stream.ts';
import { listFields } from '../../http2/message-head.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import type { CallStream } from '../../server/grpc/server-call.ts';
import { waitForIdle } from '../clock/wait-for-idle.ts';
import { truncateToHalf } from '../faults/corrupt-json.ts';
import { sampleDuration } from '../faults/duration.ts';
import type { Fault } from '../faults/fault.ts';
import type { FaultContext } from '../faults/fault-context.ts';
import { isTerminalValue } from '../faults/sse-frames.ts';
import { corruptText, frameMessage, padMessage } from './corrupt-message.ts';
import { ForwardingCallStream } from './forwarding-call-stream.ts';
import { replacementFor } from './grpc-replacement.ts';

/** Event-loop turns in which the client can read what was sent before the interruption. */
const interruptionTurns = 4;

/** Bytes that are held back before backpressure is applied. */
const maxHeldBytes = 64 * 1_024;

/** Collaborators of {@link FaultyCallStream}. */
export interface GrpcFaultContext extends FaultContext {
  /** Undefined if the path is not one of a method. */
  readonly method: GrpcMethod | undefined;
  /** Closes the connection of the call. */
  readonly disconnect: () => void;
}

/** The response to a call with injected faults. It counts messages as events. */
export class FaultyCallStream extends ForwardingCallStream implements CallStream {
  readonly #select: () => readonly Fault[];
  readonly #context: GrpcFaultContext;
  readonly #isStream: boolean;
  readonly #frames = new FrameReader(Number.POSITIVE_INFINITY);
  /** Undefined until the response starts. */
  #faults: readonly Fault[] | undefined = undefined;
  /** What is held back by a delay. */
  #held: (() => void)[] | undefined = undefined;
  #heldBytes = 0;
  #cancelDelay: (() => void) | undefined = undefined;
  #sentEvents = 0;
  /** What follows is discarded. */
  #isOver = false;

  /** @param select - returns the faults; called once, when the response starts */
  constructor(stream: CallStream, select: () => readonly Fault[], context: GrpcFaultContext) {
    super(stream);
    this.#select = select;
    this.#context = context;
    this.#isStream = context.method !== undefined && isStreamingOperation(context.method.operation);
  }

  get handler(): StreamHandler | undefined {
    return this.stream.handler;
  }

  set handler(handler: StreamHandler | undefined) {
    this.stream.handler = handler && {
      dataReceived: (bytes) => handler.dataReceived(bytes),
      endReceived: (trailers) => handler.endReceived(trailers),
      drained: () => handler.drained(),
      closed: (code, error) => {
        this.#isOver = true;
        this.#cancelDelay?.();
        handler.closed(code, error);
      },
    };
  }

  sendHead(list: HeaderList, isEnd: boolean, isReused?: boolean): void {
    const faults = this.#start();
    if (this.#isOver) return;
    if (isEnd) {
      const fault = faults.find(({ kind }) => kind === 'disconnect' || kind === 'reset' || kind === 'stall');
      if (fault) this.#interrupt(fault.kind);
      else this.#run(() => this.stream.sendHead(list, true, isReused));
      return;
    }
    const type = faults.find((fault) => fault.kind === 'content-type')?.type;
    const sent = type === undefined ? list : [...list];
    if (type !== undefined) (sent as string[])[list.indexOf('content-type') + 1] = type;
    this.#run(() => this.stream.sendHead(sent, false, type === undefined && isReused));
    if (this.#isStream) this.#applyFaults();
  }

  write(bytes: StreamBytes): boolean {
    if (this.#start().length === 0) return this.stream.write(bytes);
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    let canContinue = true;
    for (const message of this.#frames.push(buffer))
      if (!this.#isOver) canContinue = this.#isStream ? this.#sendEvent(message) : this.#sendResult(message);
    return canContinue;
  }

  end(bytes?: StreamBytes, trailers?: HeaderList, areReused?: boolean): void {
    if (this.#start().length === 0) {
      this.stream.end(bytes, trailers, areReused);
      return;
    }
    if (bytes !== undefined) this.write(bytes);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#run(() => this.stream.end(undefined, trailers, areReused));
  }

  /** Resets the call, unless a fault has taken over. */
  reset(code: number): void {
    if (!this.#isOver || !this.#faults?.length) this.stream.reset(code);
  }

  /** Selects the faults, and applies those that concern the whole response. */
  #start(): readonly Fault[] {
    if (this.#faults) return this.#faults;
    const faults = this.#select();
    this.#faults = faults;
    const { clock, random } = this.#context;
    const delay = faults.find((fault) => fault.kind === 'delay');
    if (delay) {
      this.#held = [];
      this.#cancelDelay = clock.after(sampleDuration(delay.duration, random), () => this.#release());
    }
    for (const fault of faults) {
      if (this.#isOver) break;
      const replacement = replacementFor(fault);
      if (replacement) {
        const { head, body } = replacement;
        this.#isOver = true;
        this.#run(() => {
          this.stream.sendHead(head, body === '');
          if (body !== '') this.stream.end(Buffer.from(body));
        });
      } else if (fault.kind === 'refuse') {
        this.#interrupt('disconnect', () => this.#context.startOutage?.(fault.duration));
      } else if (fault.kind === 'reset' && (fault.after ?? 0) === 0) this.#interrupt('reset');
      else if (fault.kind === 'disconnect' && fault.after === 0) this.#interrupt('disconnect');
    }
    return faults;
  }

  #sendEvent(message: Uint8Array): boolean {
    for (const fault of this.#faults ?? []) {
      if (fault.kind === 'half-frame' && (fault.after ?? 1) === this.#sentEvents) {
        this.#endWith(truncateToHalf(frameMessage(message)));
        return true;
      }
      if (fault.kind === 'early-end' && fault.after === undefined && this.#isTerminal(message)) {
        this.#endWith(undefined);
        return true;
      }
    }
    const canContinue = this.#send(frameMessage(this.#corrupt(message)));
    this.#sentEvents++;
    this.#applyFaults();
    return canContinue;
  }

  /** Sends the only message of a response, or half of it. */
  #sendResult(message: Uint8Array): boolean {
    const frame = frameMessage(this.#corrupt(message));
    for (const { kind } of this.#faults ?? []) {
      if (kind === 'half-frame') this.#endWith(truncateToHalf(frame));
      else if (kind === 'disconnect' || kind === 'reset' || kind === 'stall') {
        this.#send(truncateToHalf(frame));
        this.#interrupt(kind);
      }
      if (this.#isOver) return true;
    }
    return this.#send(frame);
  }

  #corrupt(message: Uint8Array): Uint8Array {
    for (const fault of this.#faults ?? []) {
      const isHere = 'after' in fault ? (fault.after ?? 0) === this.#sentEvents || !this.#isStream : true;
      if (fault.kind === 'oversize' && isHere) return padMessage(message, fault.bytes);
      if (fault.kind === 'bad-utf8' && isHere) return corruptText(message);
    }
    return message;
  }

  /** Applies the faults that occur between two events. */
  #applyFaults(): void {
    for (const fault of this.#faults ?? []) {
      if (this.#isOver) return;
      const after = 'after' in fault ? fault.after : undefined;
      if (fault.kind === 'early-end' && after === this.#sentEvents) this.#endWith(undefined);
      if ((after ?? 1) !== this.#sentEvents) continue;
      if (fault.kind === 'disconnect' || fault.kind === 'reset' || fault.kind === 'stall')
        this.#interrupt(fault.kind);
    }
  }

  #isTerminal(message: Uint8Array): boolean {
    const { method } = this.#context;
    return method !== undefined && isTerminalValue(decodeMessage(method.response, message));
  }

  /** Ends the response regularly. */
  #endWith(bytes: Buffer | undefined): void {
    this.#isOver = true;
    this.#run(() => this.stream.end(bytes, listFields({ ...okTrailers })));
  }

  /** Sends nothing more. */
  #interrupt(kind: Fault['kind'], then?: () => void): void {
    this.#isOver = true;
    if (kind === 'stall') return;
    this.#run(() => {
      void waitForIdle(interruptionTurns).then(() => {
        if (kind === 'reset') this.stream.reset(http2Codes.internalError);
        else this.#context.disconnect();
        then?.();
      });
    });
  }

  #send(frame: Buffer): boolean {
    if (this.#held) this.#heldBytes += frame.length;
    let canContinue = this.#heldBytes <= maxHeldBytes;
    this.#run(() => {
      canContinue = this.stream.write(frame);
    });
    return canContinue;
  }

  #run(action: () => void): void {
    if (this.#held) this.#held.push(action);
    else action();
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const action of held) action();
    if (this.#heldBytes > maxHeldBytes) this.handler?.drained();
    this.#heldBytes = 0;
  }
}
