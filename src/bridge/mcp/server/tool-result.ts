import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ActionFile, ActionResponse, ActionStatus, JsonSchema } from '../../action-types.ts';
import type { ResourceCache } from './resource-cache.ts';

/** How many bytes a picture or a sound may have to be shown at once, beside its link. */
const maxInlineBytes = 256 * 1_024;

/** What can be done about an answer that is no success, where the bridge has no better words. */
const advice: { readonly [status in ActionStatus]?: string } = {
  FAILED: 'The agent could not do it. Change the request, or try again later.',
  REJECTED: 'The agent will not do it. Ask for something that its description promises.',
  CANCELED: 'The task was canceled. Call the tool again to start anew.',
  AUTH_REQUIRED:
    'The agent wants credentials. They are set where the bridge is started and never given as arguments.',
  ERROR: 'The agent could not be reached or did not answer as it should. Try again later.',
  TIMEOUT: 'The agent did not answer in time. Try again later.',
};

const statuses: readonly ActionStatus[] = [
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'CANCELED',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'RUNNING',
  'ERROR',
  'TIMEOUT',
];

/** The schema of the structured content of every answer; `data` is as the skill says it is, if it does. */
export function toolResultSchema(data: JsonSchema | undefined): JsonSchema {
  const text = { type: 'string' };
  const { $id: _id, $schema: _schema, $defs, definitions, ...rest } = data ?? { type: 'object' };
  return {
    type: 'object',
    // References of the skill's schema lead to its root, which is here now.
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    properties: {
      status: { type: 'string', enum: statuses },
      message: text,
      data: rest,
      files: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: text, mediaType: text, uri: text, size: { type: 'integer' } },
          required: ['name', 'mediaType'],
        },
      },
      follow_up_id: text,
      task_id: text,
      context_id: text,
    },
    required: ['status', 'message'],
  };
}

/** What a tool answers, and the tool that goes on with it. */
export interface ToolResultContext {
  readonly shelf: ResourceCache;
  /** The name of the tool that takes answers to questions. */
  readonly followUpTool: string;
  /** Looks at the structured content. @returns what is wrong with it, or undefined. */
  readonly check: (structured: unknown) => string | undefined;
}

/** Writes the response of an action as the result of a tool. */
export function buildToolResult(response: ActionResponse, setting: ToolResultContext): CallToolResult {
  const { status, message, followUpId, taskId, contextId } = response;
  // What a call can go on with stands beside the data here.
  const { follow_up_id: _id, ...data } = response.data;
  const isError = !response.success && status !== 'INPUT_REQUIRED' && status !== 'RUNNING';
  const content: CallToolResult['content'] = [];
  const text = [message, whatToDo(response, setting.followUpTool)].filter(Boolean).join('\n\n');
  if (text !== '') content.push({ type: 'text', text });
  const hasData = Object.keys(data).length > 0;
  if (hasData) content.push({ type: 'text', text: JSON.stringify(data) });
  const told = {
    status,
    message,
    ...(followUpId !== undefined && { follow_up_id: followUpId }),
    ...(taskId !== undefined && { task_id: taskId }),
    ...(contextId !== undefined && { context_id: contextId }),
  };
  const problem = hasData ? setting.check({ ...told, data }) : undefined;
  // Clients throw an answer away whose data are not what was promised; as text they have it all the same.
  const isAsPromised = hasData && problem === undefined;
  if (problem !== undefined)
    content.push({ type: 'text', text: `The data are not as the skill promises: ${problem}` });
  const files = response.files.map((file) => writeFile(file, setting.shelf, content));
  if (content.length === 0) content.push({ type: 'text', text: 'Done.' });
  return {
    content,
    structuredContent: { ...told, ...(isAsPromised && { data }), ...(files.length > 0 && { files }) },
    ...(isError && { isError }),
    ...(response.errorInfo?.code !== undefined && { _meta: { 'dragoman/code': response.errorInfo.code } }),
  };
}

/** A result for what went wrong before an agent was asked. */
export function buildToolError(text: string): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: { status: 'ERROR', message: text },
    isError: true,
  };
}

function whatToDo({ success, status, errorInfo, followUpId }: ActionResponse, tool: string): string {
  const goOn = (how: string): string =>
    followUpId === undefined ? '' : `Call the tool ${tool} with follow_up_id "${followUpId}" ${how}`;
  if (status === 'INPUT_REQUIRED') return goOn('and the answer as user_response.');
  if (status === 'RUNNING')
    return `The agent is still working on it. ${goOn('and an empty user_response to wait for it.')}`.trim();
  if (success) return '';
  const then = status === 'AUTH_REQUIRED' ? goOn('once they are set.') : '';
  return [errorInfo?.hint ?? advice[status], then].filter(Boolean).join(' ');
}

/** Puts a file on the shelf and a link to it into the content. */
function writeFile(
  file: ActionFile,
  shelf: ResourceCache,
  content: CallToolResult['content'],
): { name: string; mediaType: string; uri?: string; size?: number } {
  const { name, mediaType, bytes } = file;
  const shelved = shelf.add(file);
  const uri = shelved?.uri ?? (isWebAddress(file.uri) ? file.uri : undefined);
  const size = shelved?.size ?? file.size;
  if (bytes !== undefined && shelved && bytes.length <= maxInlineBytes) {
    if (mediaType.startsWith('image/')) content.push({ type: 'image', data: bytes, mimeType: mediaType });
    if (mediaType.startsWith('audio/')) content.push({ type: 'audio', data: bytes, mimeType: mediaType });
  }
  if (uri === undefined) {
    const why =
      bytes === undefined && file.uri === undefined
        ? 'has no content'
        : `cannot be had here: more than ${shelf.maxResourceBytes} bytes, or kept where the bridge does not read`;
    content.push({ type: 'text', text: `The file ${name} (${mediaType}) ${why}.` });
    return { name, mediaType, ...(size !== undefined && { size }) };
  }
  content.push({
    type: 'resource_link',
    uri,
    name,
    mimeType: mediaType,
    ...(size !== undefined && { size }),
  });
  return { name, mediaType, uri, ...(size !== undefined && { size }) };
}

/** Whether whoever reads a link can follow it without the bridge. */
function isWebAddress(uri: string | undefined): uri is string {
  return uri !== undefined && /^https?:/i.test(uri);
}
