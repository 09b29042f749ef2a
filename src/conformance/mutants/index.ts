import { brokenBefore } from './protocol/pre-1_0.ts';
import type { BrokenAgent } from './harness/mutant-agent.ts';
import { brokenVersion } from './protocol/version.ts';
import { brokenExtension } from './protocol/extension.ts';
import { brokenExtendedCard } from './card/extended-card.ts';
import { brokenAuthorization } from './security/authorization.ts';
import { brokenAuth } from './security/auth.ts';
import { brokenCancel } from './operations/cancel.ts';
import { brokenCard } from './card/card.ts';
import { brokenCardSignature } from './card/card-signature.ts';
import { brokenContext } from './operations/context.ts';
import { brokenGet } from './operations/get.ts';
import { brokenHttp } from './protocol/http.ts';
import { brokenList } from './operations/list.ts';
import { brokenMode } from './operations/response-mode.ts';
import { brokenModel } from './protocol/model.ts';
import { brokenOutput } from './operations/output.ts';
import { brokenRest } from './protocol/rest.ts';
import { brokenRpc } from './protocol/rpc.ts';
import { brokenPush } from './push/push.ts';
import { brokenPushBefore } from './push/push-pre-1_0.ts';
import { brokenRestBefore } from './protocol/rest-0_3.ts';
import { brokenSend } from './operations/send.ts';
import { brokenStreams } from './operations/stream.ts';
import { brokenSubscribe } from './operations/subscribe.ts';
import { brokenTasks } from './operations/task.ts';

/** Every agent that is wrong in one thing. */
export const allBroken: readonly BrokenAgent[] = [
  ...brokenModel,
  ...brokenSend,
  ...brokenGet,
  ...brokenList,
  ...brokenCancel,
  ...brokenMode,
  ...brokenContext,
  ...brokenStreams,
  ...brokenSubscribe,
  ...brokenTasks,
  ...brokenHttp,
  ...brokenBefore,
  ...brokenRpc,
  ...brokenRest,
  ...brokenCard,
  ...brokenCardSignature,
  ...brokenPush,
  ...brokenPushBefore,
  ...brokenRestBefore,
  ...brokenVersion,
  ...brokenExtension,
  ...brokenExtendedCard,
  ...brokenAuthorization,
  ...brokenAuth,
  ...brokenOutput,
];
