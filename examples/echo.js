// The smallest agent: repeats the message.
//
//   npx dragoman serve examples/echo.js
import { defineAgent } from 'dragoman';

export default defineAgent({
  name: 'Echo',
  description: 'Repeats the message',
  skills: [{ id: 'echo', name: 'Echo', tags: ['demo'], examples: ['hello'] }],
  async *process({ text }) {
    yield `You said: ${text}`;
  },
});
