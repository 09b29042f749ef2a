/**
 * Push notifications: sending them, receiving them, and looking after those that did not arrive.
 *
 * @module
 */
export type { PushClock } from './clock.ts';
export { deadLetters, type DeliveryFilter, listDeliveries, retryDeadLetters } from './sending/dead-letters.ts';
export type { FetchKeys } from './receiving/jwks-resolver.ts';
export { type HandleNews, type ListenerOptions, pushListener } from './receiving/listener.ts';
export type { PushOptions } from './push-options.ts';
export {
  type Incoming,
  type News,
  pushReceiver,
  type PushReceiver,
  type ReceiverOptions,
  type Refused,
} from './receiving/receiver.ts';
export {
  type PublicKeys,
  type PushSigner,
  pushSigner,
  type PushSignerOptions,
  type Signable,
} from './sending/signer.ts';
