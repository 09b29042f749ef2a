/**
 * Push notifications: sending them, receiving them, and looking after those that did not arrive.
 *
 * @module
 */
export type { PushClock } from './clock.ts';
export {
  listDeadLetters,
  type DeliveryFilter,
  listDeliveries,
  retryDeadLetters,
} from './sending/dead-letters.ts';
export type { FetchJwks } from './receiving/jwks-resolver.ts';
export { type NotificationHandler, type PushListenerOptions, pushListener } from './receiving/listener.ts';
export type { PushOptions } from './push-options.ts';
export {
  type WebhookRequest,
  type ReceivedNotification,
  pushReceiver,
  type PushReceiver,
  type PushReceiverOptions,
  type RejectedNotification,
} from './receiving/receiver.ts';
export {
  type JsonWebKeySet,
  type PushSigner,
  pushSigner,
  type PushSignerOptions,
  type SignatureInput,
} from './sending/signer.ts';
