import { decodeMessage } from '../../dialects/protobuf/decode-message.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';

/** Returns a message as ProtoJSON for records of traffic, or its length if it is malformed. */
export function messageText(type: MessageType, message: Uint8Array): string {
  try {
    return JSON.stringify(decodeMessage(type, message));
  } catch {
    return describeBytes(message.length);
  }
}

/** Describes bytes that are not shown. */
export function describeBytes(length: number): string {
  return length === 0 ? '' : `(${length} bytes of application/grpc)`;
}
