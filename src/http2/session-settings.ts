import { frameFlags, frameOf, frameTypes, uint32Text } from './frames.ts';
import { http2Codes, Http2Error } from './http2-error.ts';

/** Identifiers of settings (RFC 9113, section 6.5.2). */
const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** Largest window, in bytes. */
export const maxWindow = 2 ** 31 - 1;

/** The window of connections, and of streams until the settings arrive, in bytes. */
export const defaultWindow = 65_535;

/** What one side of a connection announces. */
export interface Http2Settings {
  /** Streams that the peer may have open. */
  readonly maxConcurrentStreams?: number;
  /** Bytes of a stream that the peer may send before they are read. */
  readonly initialWindowSize: number;
  /** Bytes of headers, with 32 bytes for each. */
  readonly maxHeaderListSize: number;
}

/** Returns the frame with the settings. A client forbids pushes. */
export function settingsFrame(settings: Http2Settings, isServer: boolean): string {
  const { maxConcurrentStreams, initialWindowSize, maxHeaderListSize } = settings;
  let payload = setting(settingIds.initialWindowSize, initialWindowSize);
  if (!isServer) payload += setting(settingIds.enablePush, 0);
  if (maxConcurrentStreams !== undefined && Number.isFinite(maxConcurrentStreams))
    payload += setting(settingIds.maxConcurrentStreams, maxConcurrentStreams);
  if (Number.isFinite(maxHeaderListSize)) payload += setting(settingIds.maxHeaderListSize, maxHeaderListSize);
  return frameOf(frameTypes.settings, frameFlags.none, 0, payload);
}

/** The settings of the peer that matter. */
export class PeerSettings {
  headerTableSize = 4_096;
  maxConcurrentStreams = Number.POSITIVE_INFINITY;
  initialWindowSize = defaultWindow;

  /** Reads the payload of a frame. @throws {@link Http2Error} */
  update(payload: Buffer): void {
    if (payload.length % 6 !== 0) throw new Http2Error(http2Codes.frameSizeError, 'settings of a wrong size');
    for (let at = 0; at < payload.length; at += 6)
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  }

  #set(id: number, value: number): void {
    switch (id) {
      case settingIds.headerTableSize:
        this.headerTableSize = value;
        return;
      case settingIds.enablePush:
        if (value > 1) throw new Http2Error(http2Codes.protocolError, 'ENABLE_PUSH is neither 0 nor 1');
        return;
      case settingIds.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return;
      case settingIds.initialWindowSize:
        if (value > maxWindow) throw new Http2Error(http2Codes.flowControlError, 'the window is too large');
        this.initialWindowSize = value;
        return;
      case settingIds.maxFrameSize:
        if (value < 16_384 || value > 16_777_215)
          throw new Http2Error(http2Codes.protocolError, 'MAX_FRAME_SIZE is out of range');
    }
  }
}

function setting(id: number, value: number): string {
  return `\0${String.fromCharCode(id)}${uint32Text(value)}`;
}
