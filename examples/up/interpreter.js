// An interpreter: an agent that requests input, streams line by line, and returns a table and an image.
//
//   npx dragoman up                                  starts it with the other samples
//   npx dragoman serve examples/up/interpreter.js    starts it alone
import { setTimeout as pause } from 'node:timers/promises';
import { artifact, chunk, defineAgent, rawPart, status, textOf } from 'dragoman';
import { postcard } from './postcard.js';

const phrases = {
  hello: { french: 'bonjour', german: 'hallo', italian: 'ciao', spanish: 'hola', turkish: 'merhaba' },
  'good morning': {
    french: 'bonjour',
    german: 'guten Morgen',
    italian: 'buongiorno',
    spanish: 'buenos días',
    turkish: 'günaydın',
  },
  'thank you': {
    french: 'merci',
    german: 'danke',
    italian: 'grazie',
    spanish: 'gracias',
    turkish: 'teşekkür ederim',
  },
  goodbye: {
    french: 'au revoir',
    german: 'auf Wiedersehen',
    italian: 'arrivederci',
    spanish: 'adiós',
    turkish: 'hoşça kal',
  },
};
const languages = Object.keys(phrases.hello);
const listed = `${languages.slice(0, -1).join(', ')} or ${languages.at(-1)}`;

const languageIn = (text) => languages.find((each) => text.toLowerCase().includes(each));
const phraseIn = (text) => Object.keys(phrases).find((each) => text.toLowerCase().includes(each));

export default defineAgent({
  name: 'Interpreter',
  description: 'Says a few words in five languages, writes phrasebooks and paints postcards',
  version: '1.0.0',
  defaultOutputModes: ['text/plain', 'text/csv', 'image/png'],
  skills: [
    {
      id: 'say',
      name: 'Say',
      description: 'Translates a phrase and asks for the language if it is missing',
      tags: ['sample', 'question'],
      examples: ['say thank you in Turkish', 'say good morning'],
    },
    {
      id: 'phrasebook',
      name: 'Phrasebook',
      description: 'Writes all phrases of a language, line by line, and gives them as a table',
      tags: ['sample', 'streaming', 'csv'],
      examples: ['phrasebook Italian'],
    },
    {
      id: 'postcard',
      name: 'Postcard',
      description: 'Paints a postcard of a town',
      tags: ['sample', 'image'],
      examples: ['postcard from Istanbul'],
    },
  ],
  async *process(context) {
    const { text } = context;
    if (/\bpostcard\b/i.test(text)) yield* paint(text);
    else if (/\bphrase ?book\b/i.test(text)) yield* write(context);
    else if (phraseIn(text)) yield* say(context, phraseIn(text));
    else yield `Try: say good morning – phrasebook Italian – postcard from Istanbul`;
  },
});

async function* say({ text, ask }, phrase) {
  let language = languageIn(text);
  while (language === undefined) {
    const answer = textOf((await ask(`In which language: ${listed}?`)).parts);
    language = languageIn(answer);
  }
  yield `“${phrases[phrase][language]}”`;
}

async function* write({ text, signal }) {
  const language = languageIn(text) ?? 'turkish';
  const rows = Object.entries(phrases).map(([phrase, said]) => [phrase, said[language]]);
  yield status('working', `Writing ${rows.length} phrases in ${language}.`);
  for (const [index, [phrase, said]] of rows.entries()) {
    // Simulates typing; a cancellation ends the delay.
    await pause(80, undefined, { signal });
    yield chunk('phrases', `${phrase} – ${said}\n`, {
      name: 'phrases',
      lastChunk: index === rows.length - 1,
    });
  }
  const table = [['english', language], ...rows].map((row) => `${row.join(',')}\n`).join('');
  const file = rawPart(Buffer.from(table), { mediaType: 'text/csv', filename: `${language}.csv` });
  yield artifact([file], { name: `${language}.csv`, description: 'The same as a table' });
}

async function* paint(text) {
  const town = /(?:from|of)\s+([\p{L} -]{1,40})/u.exec(text)?.[1]?.trim() ?? 'Istanbul';
  yield status('working', `Mixing the colours of ${town}.`);
  const picture = rawPart(postcard(town), { mediaType: 'image/png', filename: 'postcard.png' });
  yield artifact([picture], { name: 'postcard.png', description: `${town} in the evening` });
  yield status('completed', `Greetings from ${town}!`);
}
