import { render } from 'preact';
import { App } from './app.tsx';
import { escapeRenderedTexts } from './components/content/escape-rendered-texts.ts';
import './theme.css';

escapeRenderedTexts();
const root = document.querySelector('#app');
if (root) render(<App />, root);
