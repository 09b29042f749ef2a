// Drives the client of this package; build first.
import { connect } from '../../dist/client/index.js';

let count = 0;
const request = (text) => ({ message: { messageId: `m-${count++}`, role: 'user', parts: [{ text }] } });

export async function create(url, transport) {
  const agent = connect(url, { transports: [transport] });
  await agent.card();
  return { send: (text) => agent.send(request(text)), stream: (text) => agent.stream(request(text)) };
}
