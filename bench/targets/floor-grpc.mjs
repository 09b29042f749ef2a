// Bare grpc-js: answers with bytes that were encoded before, and decodes nothing.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { encodeMessage } from '../../dist/dialects/protobuf/encode-message.js';
import { messages1_0 as m } from '../../dist/dialects/protobuf/messages-1_0.js';

const ids = { taskId: crypto.randomUUID(), contextId: crypto.randomUUID() };
const status = (state) => ({ state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() });
const artifact = (text) => ({ artifactId: 'a', name: 'echo', parts: [{ text, mediaType: 'text/plain' }] });
const message = { messageId: 'm', ...ids, role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const task = (state) => ({
  id: ids.taskId,
  contextId: ids.contextId,
  status: status(state),
  artifacts: state === 'COMPLETED' ? [artifact('hello')] : [],
  history: [message],
});
const sent = Buffer.from(encodeMessage(m.SendMessageResponse, { task: task('COMPLETED') }));
const event = (value) => Buffer.from(encodeMessage(m.StreamResponse, value));
const first = event({ task: task('SUBMITTED') });
const working = event({ statusUpdate: { ...ids, status: status('WORKING') } });
const completed = event({ statusUpdate: { ...ids, status: status('COMPLETED') } });
const chunk = event({ artifactUpdate: { ...ids, artifact: artifact('stream:100'), append: true } });

const subscribers = new Set();
const command = (bytes) => /(stream|hang|fan)(?::(\d+))?(?::(\d+))?/.exec(bytes.toString('latin1')) ?? [];

function finish(call) {
  call.write(completed);
  call.end();
}

async function stream(call) {
  const [, name = 'stream', count = '3', wait = '0'] = command(call.request);
  call.write(first);
  call.write(working);
  if (name === 'hang') return;
  if (name === 'fan') {
    subscribers.add(call);
    await new Promise((resolve) => setTimeout(resolve, +wait));
    for (let i = 0; i < +count; i++) {
      await new Promise(setImmediate);
      for (const each of subscribers) each.write(chunk);
    }
    for (const each of subscribers) finish(each);
    subscribers.clear();
    return;
  }
  for (let i = 0; i < +count - 2; i++) call.write(chunk);
  finish(call);
}

const bytes = { requestSerialize: Buffer.from, requestDeserialize: Buffer.from };
const method = (name, responseStream) => ({
  path: `/lf.a2a.v1.A2AService/${name}`,
  requestStream: false,
  responseStream,
  ...bytes,
  responseSerialize: (value) => value,
  responseDeserialize: Buffer.from,
});
const server = new Server();
server.addService(
  {
    send: method('SendMessage', false),
    stream: method('SendStreamingMessage', true),
    subscribe: method('SubscribeToTask', true),
  },
  {
    send: (_call, done) => done(null, sent),
    stream,
    subscribe(call) {
      call.write(first);
      subscribers.add(call);
    },
  },
);
server.bindAsync(`127.0.0.1:${process.env.PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
