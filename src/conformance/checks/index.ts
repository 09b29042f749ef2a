import type { Check } from '../check.ts';
import { authChecks } from './security/auth.ts';
import { authorizationChecks } from './security/authorization.ts';
import { pre1_0Checks } from './protocol/pre-1_0.ts';
import { transportEquivalenceChecks } from './protocol/transport-equivalence.ts';
import { cancelChecks } from './operations/cancel.ts';
import { cardCacheChecks } from './card/card-cache.ts';
import { cardSignatureChecks } from './card/card-signature.ts';
import { cardChecks } from './card/card.ts';
import { contextChecks } from './operations/context.ts';
import { extendedCardChecks } from './card/extended-card.ts';
import { extensionChecks } from './protocol/extension.ts';
import { grpcChecks } from './protocol/grpc.ts';
import { getChecks } from './operations/get.ts';
import { listChecks } from './operations/list.ts';
import { responseModeChecks } from './operations/response-mode.ts';
import { outputChecks } from './operations/output.ts';
import { restChecks } from './protocol/rest.ts';
import { rpcChecks } from './protocol/rpc.ts';
import { pushPre1_0Checks } from './push/push-pre-1_0.ts';
import { pushDeliveryChecks } from './push/push-delivery.ts';
import { pushConfigChecks } from './push/push-config.ts';
import { sendChecks } from './operations/send.ts';
import { stateChecks } from './operations/states.ts';
import { streamChecks } from './operations/stream.ts';
import { subscribeChecks } from './operations/subscribe.ts';
import { skillChecks } from './operations/skills.ts';
import { survivalChecks } from './protocol/survival.ts';
import { versionChecks } from './protocol/version.ts';
import { validationChecks } from './protocol/validation.ts';

/** All checks of the suite. */
export const allChecks: readonly Check[] = [
  ...sendChecks,
  ...streamChecks,
  ...getChecks,
  ...listChecks,
  ...cancelChecks,
  ...subscribeChecks,
  ...responseModeChecks,
  ...contextChecks,
  ...pre1_0Checks,
  ...rpcChecks,
  ...restChecks,
  ...grpcChecks,
  ...validationChecks,
  ...transportEquivalenceChecks,
  ...cardChecks,
  ...cardCacheChecks,
  ...cardSignatureChecks,
  ...pushConfigChecks,
  ...pushPre1_0Checks,
  ...pushDeliveryChecks,
  ...extendedCardChecks,
  ...versionChecks,
  ...extensionChecks,
  ...authChecks,
  ...authorizationChecks,
  ...outputChecks,
  ...skillChecks,
  ...stateChecks,
  ...survivalChecks,
];
