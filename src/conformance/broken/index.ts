import { brokenBefore } from './before.ts';
import type { BrokenAgent } from './broken-agent.ts';
import { brokenVersion } from './version.ts';
import { brokenExtension } from './extension.ts';
import { brokenExtendedCard } from './extended-card.ts';
import { brokenAuthorization } from './authorization.ts';
import { brokenAuth } from './auth.ts';
import { brokenCancel } from './cancel.ts';
import { brokenCard } from './card.ts';
import { brokenCardSignature } from './card-signature.ts';
import { brokenContext } from './context.ts';
import { brokenGet } from './get.ts';
import { brokenHttp } from './http.ts';
import { brokenList } from './list.ts';
import { brokenMode } from './mode.ts';
import { brokenModel } from './model.ts';
import { brokenOutput } from './output.ts';
import { brokenRest } from './rest.ts';
import { brokenRpc } from './rpc.ts';
import { brokenPush } from './push.ts';
import { brokenPushBefore } from './push-before.ts';
import { brokenRestBefore } from './rest-before.ts';
import { brokenSend } from './send.ts';
import { brokenStreams } from './stream.ts';
import { brokenSubscribe } from './subscribe.ts';
import { brokenTasks } from './task.ts';

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
