import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time. SHA-256 digests have equal lengths, so the time does not reveal a length. */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
