// Requests approval: the task is `input-required` until the client replies.
//
//   npx dragoman serve examples/approval.js
import { artifact, defineAgent, status, textOf } from 'dragoman';

export default defineAgent({
  name: 'Payments',
  description: 'Pays a bill after approval',
  skills: [{ id: 'pay', name: 'Pay', tags: ['demo', 'approval'], examples: ['pay 20 to the baker'] }],
  async *process(context) {
    const { text } = context;
    yield status('working', 'Looking at the bill.');
    const answer = textOf((await context.ask(`Shall I ${text}? Say yes or no.`)).parts);
    if (!/^\s*yes\b/i.test(answer)) {
      yield status('rejected', 'Nothing was paid.');
      return;
    }
    yield artifact(`Done: ${text}`, { name: 'receipt.txt' });
  },
});
