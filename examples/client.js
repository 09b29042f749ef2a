// Calls the echo agent in any version it supports and checks the response.
//
//   npx dragoman serve examples/echo.js        in one terminal
//   node examples/client.js                    in another terminal; accepts a URL
import { connect, reduce, textOf } from 'dragoman';

const agent = connect(process.argv[2] ?? 'http://127.0.0.1:4000');
const { name } = await agent.card();
const { version, transport } = await agent.describe();
console.log(`${name} uses A2A ${version} over ${transport}`);

const events = [];
for await (const event of agent.stream('hello')) {
  console.log(event.kind, event.kind === 'status' ? event.status.state : '');
  events.push(event);
}
await agent.close();

// reduce() computes the task, with complete artifacts, from its events.
const task = reduce(events);
const text = task ? textOf(task) : '';
console.log(text);
if (text !== 'You said: hello') {
  console.error('Unexpected response.');
  process.exitCode = 1;
}
