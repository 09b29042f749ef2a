/**
 * Push notifications: sending them, receiving them, and looking after those that did not arrive.
 *
 * @module
 */
export type { PushClock } from './clock.ts';
export { deadLetters, type DeliveryFilter, listDeliveries, retryDeadLetters } from './dead-letters.ts';
export type { FetchKeys } from './key-ring.ts';
export { type HandleNews, type ListenerOptions, pushListener } from './listener.ts';
export type { PushOptions } from './options.ts';
export {
  type Incoming,
  type News,
  pushReceiver,
  type PushReceiver,
  type ReceiverOptions,
  type Refused,
} from './receiver.ts';
export {
  type PublicKeys,
  type PushSigner,
  pushSigner,
  type PushSignerOptions,
  type Signable,
} from './signer.ts';
