import type { Socket } from 'node:net';

/** Characters above which collected frames are written before the end of the tick. */
const maxCollected = 64 * 1_024;

/** Bytes up to which they are copied into the text of a tick. */
const maxCopied = 4_096;

/** Bytes that the socket may hold before streams wait. */
const maxHeld = 128 * 1_024;

/** Collects the frames of one tick and writes them at once. They are text in which each character is a byte. */
export class SessionOutput {
  readonly #socket: Socket;
  #text = '';
  /** True from when the socket holds too many bytes until it has sent them all. */
  isCongested = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Adds frames. */
  write(frames: string): void {
    const text = this.#text;
    if (text === '') process.nextTick(flushOutput, this);
    this.#text = text + frames;
    if (this.#text.length > maxCollected) this.flush();
  }

  /** Adds the head of a frame and its bytes, which must not change later. */
  writeBytes(head: string, bytes: Uint8Array): void {
    if (bytes.length <= maxCopied) {
      this.write(head + latin1Of(bytes));
      return;
    }
    const socket = this.#socket;
    const text = this.#text + head;
    this.#text = '';
    if (!socket.writable) return;
    socket.cork();
    socket.write(text, 'latin1');
    socket.write(bytes);
    socket.uncork();
    this.isCongested = socket.writableNeedDrain && socket.writableLength > maxHeld;
  }

  /** Writes what was collected. */
  flush(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    const socket = this.#socket;
    if (!socket.writable || socket.write(text, 'latin1')) return;
    this.isCongested = socket.writableNeedDrain && socket.writableLength > maxHeld;
  }

  /** Bytes that the socket has not accepted. */
  get waitingBytes(): number {
    return this.#text.length + this.#socket.writableLength;
  }
}

function flushOutput(output: SessionOutput): void {
  output.flush();
}

/** Returns bytes as text in which each character is one of them. */
function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
