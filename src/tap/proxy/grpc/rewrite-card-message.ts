import { decodeMessage } from '../../../dialects/protobuf/decode-message.ts';
import { encodeFrame } from '../../../dialects/protobuf/encode-message.ts';
import { FrameReader } from '../../../dialects/protobuf/frame-reader.ts';
import type { MessageType } from '../../../dialects/protobuf/message-type.ts';
import { decodeBody } from '../../decode/content-encoding.ts';
import { type CardRewrite, type CardUrls, rewriteCard } from '../rewrite-card.ts';

/** Rewrites the card in the only frame of a response. @returns undefined if there is no readable card */
export function rewriteCardMessage(
  type: MessageType,
  bytes: Buffer,
  urls: CardUrls,
): CardRewrite | undefined {
  try {
    const reader = new FrameReader(bytes.length, true);
    const [message] = reader.push(bytes);
    const decoded = message && decodeBody(Buffer.from(message), reader.isCompressed ? 'gzip' : undefined);
    if (!decoded) return undefined;
    const card = decodeMessage(type, decoded);
    return rewriteCard(card, urls, (changed) => Buffer.from(encodeFrame(type, changed)));
  } catch {
    return undefined;
  }
}
