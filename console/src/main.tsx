import { render } from 'preact';
import { App } from './app.tsx';
import './theme.css';

const root = document.querySelector('#app');
if (root) render(<App />, root);
