/**
 * Push notifications: sending, receiving and dead letters.
 *
 * @module
 */
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
export type { JsonWebKeySet } from '../primitives/web/jwks.ts';
export {
  type PushSigner,
  pushSigner,
  type PushSignerOptions,
  type SignatureInput,
} from './sending/signer.ts';
