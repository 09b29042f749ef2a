import { batch, signal } from '@preact/signals';
import type { OutcomePrompts, TargetOutcome } from '../../../../../src/conformance/prompts/prompt-catalog.ts';
import type { ChatEvent } from '../../../../../src/console/console-api.ts';
import { download } from '../../../components/download.ts';
import { type DisplayError, toDisplayError } from '../../../components/error-note.tsx';
import { requestApi, requestJson, streamJson } from '../../../session/api-client.ts';
import { fromDrafts, type PromptDrafts, toDrafts } from './prompt-drafts.ts';

/** True while the editor is open. */
export const isEditorOpen = signal(false);

/** The messages of the editor. */
export const drafts = signal<PromptDrafts>({});

/** Id of the agent to which the messages belong; undefined while they are loaded. */
export const loadedAgent = signal<string | undefined>(undefined);

/** Number of saved messages of the agent. */
export const savedCount = signal(0);

/** Error of the editor. */
export const editorError = signal<DisplayError | undefined>(undefined);

/** What a message led to when it was tried. */
export const trials = signal<{ readonly [outcome in TargetOutcome]?: string }>({});

const pathOf = (agentId: string): string => `agents/${encodeURIComponent(agentId)}/prompts`;

let requestNumber = 0;

/** Loads the saved messages of an agent; the response for a previous one is ignored. */
export async function loadPrompts(agentId: string): Promise<void> {
  const turn = ++requestNumber;
  loadedAgent.value = undefined;
  let prompts: OutcomePrompts = {};
  let error: DisplayError | undefined;
  try {
    prompts = await requestJson<OutcomePrompts>(pathOf(agentId));
  } catch (thrown) {
    error = toDisplayError(thrown);
  }
  if (turn !== requestNumber) return;
  batch(() => {
    savedCount.value = Object.keys(prompts).length;
    drafts.value = toDrafts(prompts);
    trials.value = {};
    editorError.value = error;
    loadedAgent.value = agentId;
  });
}

/** Saves the messages for the runs of an agent. @returns false on errors */
export function savePrompts(agentId: string): Promise<boolean> {
  return attempt(async () => {
    const prompts = fromDrafts(drafts.value);
    await requestApi(pathOf(agentId), { method: 'POST', body: prompts });
    savedCount.value = Object.keys(prompts).length;
  });
}

/** Reads a prompts file into the editor. */
export function openPromptsFile(file: File): Promise<boolean> {
  return attempt(async () => {
    const text = await file.text();
    drafts.value = toDrafts(
      await requestJson<OutcomePrompts>('conformance/prompts', { method: 'POST', text }),
    );
  });
}

/** Downloads the messages of the editor as a file for `dragoman conformance --prompts`. */
export function savePromptsFile(): Promise<boolean> {
  return attempt(async () => {
    const body = fromDrafts(drafts.value);
    const response = await requestApi('conformance/prompts/file', { method: 'POST', body });
    download(await response.blob(), 'prompts.yaml');
  });
}

/** Sends a message and shows the state that it leads to. */
export async function tryPrompt(agentId: string, outcome: TargetOutcome): Promise<void> {
  const show = (text: string): void => {
    if (loadedAgent.peek() === agentId) trials.value = { ...trials.value, [outcome]: text };
  };
  show('sending');
  try {
    const prompt = fromDrafts(drafts.value)[outcome] ?? {};
    const parts = prompt.parts ?? [{ text: prompt.text ?? '' }];
    const path = `agents/${encodeURIComponent(agentId)}/messages`;
    for await (const event of streamJson<ChatEvent>(path, {
      method: 'POST',
      body: { parts, stream: false },
    })) {
      if (event.kind === 'error') show(event.message);
      if (event.kind === 'result') show('status' in event.result ? event.result.status.state : 'message');
    }
  } catch (error) {
    show(toDisplayError(error).message);
  }
}

async function attempt(work: () => Promise<void>): Promise<boolean> {
  editorError.value = undefined;
  try {
    await work();
    return true;
  } catch (error) {
    editorError.value = toDisplayError(error);
    return false;
  }
}
