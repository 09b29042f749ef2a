// The smallest agent: repeats the message.
//
//   npx dragoman serve examples/echo.js
import { defineAgent } from 'dragoman';

export default defineAgent({
  name: 'Echo',
  description: 'Says back what it is told',
  skills: [{ id: 'echo', name: 'Echo', tags: ['demo'], examples: ['hello'] }],
  async *process({ text }) {
    yield `You said: ${text}`;
  },
});
