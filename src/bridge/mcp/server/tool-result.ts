import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ActionFile, type ActionResponse, actionStatuses, type JsonSchema } from '../../action-types.ts';
import { type ContinuationAdvice, formatToolAdvice } from '../../tools/tool-advice.ts';
import type { ResourceCache } from './resource-cache.ts';

/** Maximum size of an image or audio file that is included besides its link, in bytes of base64. */
const maxInlineBytes = 256 * 1_024;

/** Returns the schema of the structured content of a tool result, with `data` as the output schema of the skill. */
export function toolResultSchema(data: JsonSchema | undefined): JsonSchema {
  const text = { type: 'string' };
  const { $id: _id, $schema: _schema, $defs, definitions, ...rest } = data ?? { type: 'object' };
  return {
    type: 'object',
    // `$ref` of the skill schema is relative to its root, so its definitions move to this root.
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    properties: {
      status: { type: 'string', enum: actionStatuses },
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

/** Collaborators of {@link buildToolResult}. */
export interface ToolResultContext {
  readonly resources: ResourceCache;
  /** Name of the tool that continues a task. */
  readonly followUpTool: string;
  /** Validates the structured content. @returns the error message, or undefined if it is valid */
  readonly check: (structured: unknown) => string | undefined;
}

/** Converts the response of an action to an MCP tool result. */
export function buildToolResult(response: ActionResponse, context: ToolResultContext): CallToolResult {
  const { status, message, followUpId, taskId, contextId } = response;
  // The result has follow_up_id outside of data.
  const { follow_up_id: _id, ...data } = response.data;
  const isError = !response.success && status !== 'INPUT_REQUIRED' && status !== 'RUNNING';
  const content: CallToolResult['content'] = [];
  const advice = formatToolAdvice(response, continuationAdvice(followUpId, context.followUpTool));
  const text = [message, advice].filter(Boolean).join('\n\n');
  if (text !== '') content.push({ type: 'text', text });
  const hasData = Object.keys(data).length > 0;
  if (hasData) content.push({ type: 'text', text: JSON.stringify(data) });
  const fields = {
    status,
    message,
    ...(followUpId !== undefined && { follow_up_id: followUpId }),
    ...(taskId !== undefined && { task_id: taskId }),
    ...(contextId !== undefined && { context_id: contextId }),
  };
  const problem = hasData ? context.check({ ...fields, data }) : undefined;
  // Clients discard results that do not match the output schema; the text block still contains the data.
  const isValid = hasData && problem === undefined;
  if (problem !== undefined)
    content.push({
      type: 'text',
      text: `The data does not match the output schema of the skill: ${problem}`,
    });
  const files = response.files.map((file) => addFile(file, context.resources, content));
  if (content.length === 0) content.push({ type: 'text', text: 'Done.' });
  return {
    content,
    structuredContent: { ...fields, ...(isValid && { data }), ...(files.length > 0 && { files }) },
    ...(isError && { isError }),
    ...(response.errorInfo?.code !== undefined && { _meta: { 'dragoman/code': response.errorInfo.code } }),
  };
}

/** Builds the result of a call that was rejected before the agent was called. */
export function buildToolError(text: string): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: { status: 'ERROR', message: text },
    isError: true,
  };
}

function continuationAdvice(followUpId: string | undefined, tool: string): ContinuationAdvice {
  return {
    call: followUpId === undefined ? '' : `Call the tool ${tool} with follow_up_id "${followUpId}"`,
    withInput: 'and the required input as user_response.',
    toWait: 'and an empty user_response to keep waiting.',
  };
}

/** Adds a file to the resource cache and a link to it to the content. */
function addFile(
  file: ActionFile,
  resources: ResourceCache,
  content: CallToolResult['content'],
): { name: string; mediaType: string; uri?: string; size?: number } {
  const { name, mediaType, bytes } = file;
  const cached = resources.add(file);
  // The client can fetch web files without the bridge.
  const uri = cached?.uri ?? (/^https?:/i.test(file.uri ?? '') ? file.uri : undefined);
  const size = cached?.size ?? file.size;
  const sized = size === undefined ? {} : { size };
  if (bytes !== undefined && cached && bytes.length <= maxInlineBytes) {
    if (mediaType.startsWith('image/')) content.push({ type: 'image', data: bytes, mimeType: mediaType });
    if (mediaType.startsWith('audio/')) content.push({ type: 'audio', data: bytes, mimeType: mediaType });
  }
  if (uri === undefined) {
    const why =
      bytes === undefined && file.uri === undefined
        ? 'has no content'
        : `is not available: it exceeds ${resources.maxResourceBytes} bytes or is stored where the bridge cannot read it`;
    content.push({ type: 'text', text: `The file ${name} (${mediaType}) ${why}.` });
    return { name, mediaType, ...sized };
  }
  content.push({ type: 'resource_link', uri, name, mimeType: mediaType, ...sized });
  return { name, mediaType, uri, ...sized };
}
