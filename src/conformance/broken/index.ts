import type { BrokenAgent } from './broken-agent.ts';
import { brokenCancel } from './cancel.ts';
import { brokenContext } from './context.ts';
import { brokenGet } from './get.ts';
import { brokenHttp } from './http.ts';
import { brokenList } from './list.ts';
import { brokenMode } from './mode.ts';
import { brokenModel } from './model.ts';
import { brokenSend } from './send.ts';
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
  ...brokenTasks,
  ...brokenHttp,
];
