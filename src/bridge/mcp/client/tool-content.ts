import type { CallToolResult } from '@modelcontextprotocol/client';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { Part } from '../../../protocol/part.ts';
import { resourceName } from '../server/resource-name.ts';

/** Converts the result of a tool to parts: text, bytes, links, and structured content as data. */
export function toolContentParts({ content, structuredContent }: CallToolResult): Part[] {
  const parts: Part[] = [];
  const data = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  for (const block of content ?? []) {
    switch (block.type) {
      case 'text':
        // Servers repeat structured content as text for older clients.
        if (data === undefined || JSON.stringify(parseJsonOrUndefined(block.text)) !== data)
          parts.push({ text: block.text });
        break;
      case 'image':
      case 'audio':
        parts.push({ raw: block.data, mediaType: block.mimeType });
        break;
      case 'resource_link':
        parts.push({
          url: block.uri,
          filename: block.name,
          ...(block.mimeType !== undefined && { mediaType: block.mimeType }),
        });
        break;
      case 'resource': {
        const { resource } = block;
        const labels = {
          filename: resourceName(resource.uri),
          ...(resource.mimeType !== undefined && { mediaType: resource.mimeType }),
        };
        parts.push(
          'text' in resource ? { text: resource.text, ...labels } : { raw: resource.blob, ...labels },
        );
      }
    }
  }
  if (structuredContent !== undefined) parts.push({ data: structuredContent, mediaType: 'application/json' });
  return parts;
}
