import type { Check } from '../check.ts';
import { authChecks } from './auth.ts';
import { authorizationChecks } from './authorization.ts';
import { beforeChecks } from './before.ts';
import { bindingChecks } from './binding.ts';
import { cancelChecks } from './cancel.ts';
import { cardCacheChecks } from './card-cache.ts';
import { cardSignatureChecks } from './card-signature.ts';
import { cardChecks } from './card.ts';
import { contextChecks } from './context.ts';
import { extendedCardChecks } from './extended-card.ts';
import { extensionChecks } from './extension.ts';
import { getChecks } from './get.ts';
import { listChecks } from './list.ts';
import { modeChecks } from './mode.ts';
import { outputChecks } from './output.ts';
import { restChecks } from './rest.ts';
import { rpcChecks } from './rpc.ts';
import { pushBeforeChecks } from './push-before.ts';
import { pushDeliveryChecks } from './push-delivery.ts';
import { pushChecks } from './push.ts';
import { sendChecks } from './send.ts';
import { streamChecks } from './stream.ts';
import { subscribeChecks } from './subscribe.ts';
import { versionChecks } from './version.ts';
import { validationChecks } from './validation.ts';

/** Everything that is tried. */
export const allChecks: readonly Check[] = [
  ...sendChecks,
  ...streamChecks,
  ...getChecks,
  ...listChecks,
  ...cancelChecks,
  ...subscribeChecks,
  ...modeChecks,
  ...contextChecks,
  ...beforeChecks,
  ...rpcChecks,
  ...restChecks,
  ...validationChecks,
  ...bindingChecks,
  ...cardChecks,
  ...cardCacheChecks,
  ...cardSignatureChecks,
  ...pushChecks,
  ...pushBeforeChecks,
  ...pushDeliveryChecks,
  ...extendedCardChecks,
  ...versionChecks,
  ...extensionChecks,
  ...authChecks,
  ...authorizationChecks,
  ...outputChecks,
];
