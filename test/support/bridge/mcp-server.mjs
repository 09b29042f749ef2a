/** An MCP server over stdio for tests. It uses `@modelcontextprotocol/server`, or SDK 1.x with `--old`. */
import * as z from 'zod';

const isOld = process.argv.includes('--old');
const name = 'Workshop';

const add = { a: z.number(), b: z.number() };
const paintSchema = {
  type: 'object',
  properties: { color: { type: 'string' }, size: { type: 'integer' } },
  required: ['color'],
};

const result = (text) => ({ content: [{ type: 'text', text }] });
const sum = ({ a, b }) => ({ ...result(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } });
const show = () => ({
  content: [
    { type: 'text', text: 'All kinds' },
    { type: 'image', data: 'aW1n', mimeType: 'image/png' },
    { type: 'audio', data: 'YXVk', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///a/note.txt', mimeType: 'text/plain', text: 'a note' } },
    {
      type: 'resource',
      resource: { uri: 'file:///a/b.bin', mimeType: 'application/octet-stream', blob: 'YmI=' },
    },
    { type: 'resource_link', uri: 'https://example.com/c.pdf', name: 'c.pdf', mimeType: 'application/pdf' },
  ],
});
const fail = () => ({ ...result('It is broken'), isError: true });
const paintResult = (reply) =>
  result(
    reply.action === 'accept' ? `Painted ${JSON.stringify(reply.content)}` : `Left as it is: ${reply.action}`,
  );
const untilAborted = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

if (isOld) {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const server = new McpServer({ name, version: '1.2.3' });
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: add, outputSchema: { sum: z.number() } },
    sum,
  );
  server.registerTool('greet', { title: 'Greet', inputSchema: { who: z.string() } }, ({ who }) =>
    result(`Hello ${who}`),
  );
  server.registerTool('show', {}, show);
  server.registerTool('fail', {}, fail);
  server.registerTool('paint', {}, async () =>
    paintResult(await server.server.elicitInput({ message: 'How?', requestedSchema: paintSchema })),
  );
  server.registerTool('slow', {}, async ({ signal, sendNotification, _meta }) => {
    const params = { progressToken: _meta?.progressToken, progress: 1, message: 'at it' };
    await sendNotification({ method: 'notifications/progress', params });
    return await untilAborted(signal);
  });
  server.registerTool('learn', {}, () => {
    server.registerTool('trick', {}, () => result('Done'));
    return result('Learned');
  });
  server.registerTool('die', {}, () => process.exit(3));
  await server.connect(new StdioServerTransport());
} else {
  const { McpServer, acceptedContent, inputRequired, inputResponse } = await import(
    '@modelcontextprotocol/server'
  );
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(() => {
    const server = new McpServer(
      { name, version: '1.2.3' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.registerTool(
      'add',
      { description: 'Adds', inputSchema: z.object(add), outputSchema: z.object({ sum: z.number() }) },
      sum,
    );
    const who = z.object({ who: z.string() });
    server.registerTool('greet', { title: 'Greet', inputSchema: who }, (input) =>
      result(`Hello ${input.who}`),
    );
    server.registerTool('show', {}, show);
    server.registerTool('fail', {}, fail);
    server.registerTool('paint', {}, ({ mcpReq }) => {
      const reply = inputResponse(mcpReq.inputResponses, 'how');
      if (reply.kind === 'elicit')
        return paintResult({ action: reply.action, content: acceptedContent(mcpReq.inputResponses, 'how') });
      return inputRequired({
        inputRequests: { how: inputRequired.elicit({ message: 'How?', requestedSchema: paintSchema }) },
      });
    });
    server.registerTool('slow', {}, async ({ mcpReq }) => {
      const params = { progressToken: mcpReq._meta?.progressToken, progress: 1, message: 'at it' };
      await mcpReq.notify({ method: 'notifications/progress', params });
      return await untilAborted(mcpReq.signal);
    });
    server.registerTool('learn', {}, () => {
      server.registerTool('trick', {}, () => result('Done'));
      return result('Learned');
    });
    server.registerTool('die', {}, () => process.exit(3));
    return server;
  });
}
