// Runs before each test file of the first tier. Properties are checked with the same examples in every run, so that a
// change is the only reason for a failure. The second tier checks them with new examples: see scripts/test.mjs.
import { configureGlobal } from 'fast-check';

configureGlobal({ seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) });
