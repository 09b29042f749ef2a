// Streams its output: streaming clients receive each chunk, others the complete result.
// Two artifacts are streamed in parallel, each with its own id.
//
//   npx dragoman serve examples/streaming.js
import { chunk, defineAgent, status } from 'dragoman';

export default defineAgent({
  name: 'Counter',
  description: 'Counts the words and the letters of a text while it reads it',
  skills: [{ id: 'count', name: 'Count', tags: ['demo', 'streaming'], examples: ['one two three'] }],
  async *process({ text, signal }) {
    const words = text.split(/\s+/).filter((word) => word !== '');
    yield status('working', `There are ${words.length} words to read.`);
    for (const [index, word] of words.entries()) {
      // The task was canceled.
      if (signal.aborted) return;
      const lastChunk = index === words.length - 1;
      yield chunk('words', `${word}\n`, { name: 'words.txt', lastChunk });
      yield chunk('letters', `${word.length}\n`, { name: 'letters.txt', lastChunk });
    }
  },
});
